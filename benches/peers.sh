#!/usr/bin/env bash
# Whole-process time of leakgauge and of fbleau 0.3.0 on the same rows, side by side in one run.
#
#     cargo install fbleau --version 0.3.0
#     benches/peers.sh
#
# leakgauge gives all pairs with limits; fbleau gives one estimate without any. The fastest of three
# runs of each counts; compare ratios, not seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet
leakgauge=target/release/leakgauge
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

seconds() { # the fastest of three runs
    local best=1000000000000 start end run
    for run in 1 2 3; do
        start=$(date +%s%N)
        "$@" >/dev/null
        end=$(date +%s%N)
        run=$(((end - start) / 1000))
        [ "$run" -lt "$best" ] && best=$run
    done
    awk "BEGIN { printf \"%.3f\", $best / 1e6 }"
}

ratio() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

simulate() { # name, mechanism, rows, rows that fbleau learns from
    "$leakgauge" simulate "$2" --rows "$3" --seed 1 --no-header >"$logs/$1.csv"
    head -n "$4" "$logs/$1.csv" >"$logs/$1.train.csv"
    tail -n +"$(($4 + 1))" "$logs/$1.csv" >"$logs/$1.eval.csv"
}

compare() { # name, fbleau's arguments
    local name=$1
    shift
    local ours theirs
    ours=$(seconds "$leakgauge" estimate "$logs/$name.csv" --secret 1 --format json)
    if ! command -v fbleau >/dev/null; then
        echo "$name: leakgauge $ours s (fbleau is not installed)"
        return
    fi
    theirs=$(seconds fbleau "$@" "$logs/$name.train.csv" "$logs/$name.eval.csv")
    echo "$name: leakgauge $ours s, fbleau $* $theirs s, ratio $(ratio "$ours" "$theirs")"
}

simulate numeric 'laplace(scale=2, secrets=0..9)' 60000 50000
compare numeric knn --knn-strategy ln
simulate discrete 'geometric(nu=0.1, secrets=0..99)' 1020000 1000000
compare discrete frequentist

simulate hundred 'laplace(scale=2, secrets=0..9)' 100000 1
simulate million 'laplace(scale=2, secrets=0..9)' 1000000 1
small=$(seconds "$leakgauge" estimate "$logs/hundred.csv" --secret 1)
large=$(seconds "$leakgauge" estimate "$logs/million.csv" --secret 1)
exponent=$(awk "BEGIN { printf \"%.2f\", log($large / $small) / log(10) }")
echo "numeric, 100,000 to 1,000,000 rows: $small s to $large s, exponent $exponent"
