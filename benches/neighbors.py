"""Times scikit-learn and faiss, where installed, on the points that the bench left in a folder, and
prints our time, the best other time and their ratio for each case."""

import os
import sys
import time

import numpy as np

POINTS = 100_000
folder, threads, printed = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def best(run, queries):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) / queries * 1e6


def others(d, points, queries, k):
    found = {}
    if d == 1:
        ordered = np.sort(points[:, 0])

        def merge():
            at = np.searchsorted(ordered, queries[:, 0])
            low, high = ordered[np.maximum(at - 1, 0)], ordered[np.minimum(at, len(ordered) - 1)]
            return np.minimum(queries[:, 0] - low, high - queries[:, 0])

        if k == 1:
            found["numpy sorted"] = best(merge, len(queries))
    try:
        from sklearn.neighbors import NearestNeighbors

        for algorithm in ["brute"] if d >= 10 else ["kd_tree"]:
            index = NearestNeighbors(n_neighbors=k, algorithm=algorithm, n_jobs=threads).fit(points)
            found[f"sklearn {algorithm}"] = best(lambda: index.kneighbors(queries), len(queries))
    except ImportError:
        pass
    try:
        import faiss

        if d >= 10:
            faiss.omp_set_num_threads(threads)
            index = faiss.IndexFlatL2(d)
            index.add(points.astype("f4"))
            single = queries.astype("f4")
            found["faiss f32"] = best(lambda: index.search(single, k), len(queries))
    except ImportError:
        pass
    return found


cases = {}
for line in open(printed):
    d, tied, k, *name, microseconds = line.split()
    cases.setdefault((int(d), tied, int(k)), {})[" ".join(name)] = float(microseconds)
print("| dimensions | k | ours, µs a query | best other | ratio | others |\n|---|---|---|---|---|---|")
for (d, tied, k), found in cases.items():
    numbers = np.fromfile(os.path.join(folder, f"{d}_{tied}.f64")).reshape(-1, d)
    ours = next(name for name in found if name.startswith("ours"))
    mine = found.pop(ours)
    found |= others(d, numbers[:POINTS], numbers[POINTS:], k)
    name, other = min(found.items(), key=lambda item: item[1], default=("none", float("nan")))
    rest = ", ".join(f"{name} {value:.3g}" for name, value in sorted(found.items()))
    kind = f"{d} tied" if tied == "true" else str(d)
    print(f"| {kind} | {k} | {mine:.3g} ({ours[5:]}) | {name} {other:.3g} | {mine / other:.2f} | {rest} |")
