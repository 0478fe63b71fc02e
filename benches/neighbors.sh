#!/bin/sh
# Nearest neighbours side by side: ours and kiddo (the bench), scikit-learn and faiss (neighbors.py,
# where python3 has them), at one thread. Ours and kiddo search in the calling thread.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
LEAKGAUGE_NEIGHBORS_DIR="$folder" cargo bench --quiet -p leakgauge-benches --bench neighbors >"$folder/ours.txt"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
python3 benches/neighbors.py "$folder" 1 "$folder/ours.txt"
