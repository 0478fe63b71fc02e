#!/bin/sh
# Nearest neighbors side by side: ours and kiddo (the bench), scikit-learn and faiss (neighbors.py, where python3
# has them), at one thread or at so many as the argument says, among which ours and kiddo share the queries.
set -eu
cd "$(dirname "$0")/.."
threads=${1:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
RAYON_NUM_THREADS="$threads" LEAKGAUGE_NEIGHBORS_DIR="$folder" cargo bench --quiet -p leakgauge-benches --bench neighbors >"$folder/ours.txt"
export OMP_NUM_THREADS="$threads" OPENBLAS_NUM_THREADS="$threads" MKL_NUM_THREADS="$threads"
python3 benches/neighbors.py "$folder" "$threads" "$folder/ours.txt"
