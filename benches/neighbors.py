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
    """The points are a list, those of each secret."""
    found = {}
    if d == 1:
        ordered = [np.sort(of[:, 0]) for of in points]

        def merge():
            for of in ordered:
                at = np.searchsorted(of, queries[:, 0])
                low, high = of[np.maximum(at - 1, 0)], of[np.minimum(at, len(of) - 1)]
                np.minimum(queries[:, 0] - low, high - queries[:, 0])

        if k == 1:
            found["numpy sorted"] = best(merge, len(queries))
    try:
        from sklearn.base import clone
        from sklearn.neighbors import NearestNeighbors

        for algorithm in ["brute"] if d >= 10 else ["kd_tree"]:
            of_all = NearestNeighbors(n_neighbors=k, algorithm=algorithm, n_jobs=threads)
            indices = [clone(of_all).fit(of) for of in points]
            search = lambda: [index.kneighbors(queries) for index in indices]
            found[f"sklearn {algorithm}"] = best(search, len(queries))
    except ImportError:
        pass
    try:
        import faiss

        if d >= 10:
            faiss.omp_set_num_threads(threads)
            indices = [faiss.IndexFlatL2(d) for _ in points]
            for index, of in zip(indices, points):
                index.add(of.astype("f4"))
            single = queries.astype("f4")
            search = lambda: [index.search(single, k) for index in indices]
            found["faiss f32"] = best(search, len(queries))
    except ImportError:
        pass
    return found


cases = {}
for line in open(printed):
    d, tied, secrets, k, *name, microseconds = line.split()
    cases.setdefault((int(d), tied, int(secrets), int(k)), {})[" ".join(name)] = float(microseconds)
print("| dimensions | secrets | k | ours, µs a query | best other | ratio | others |\n|---|---|---|---|---|---|---|")
for (d, tied, secrets, k), found in cases.items():
    numbers = np.fromfile(os.path.join(folder, f"{d}_{tied}.f64")).reshape(-1, d)
    points = [np.ascontiguousarray(numbers[secret:POINTS:secrets]) for secret in range(secrets)]
    ours = next(name for name in found if name.startswith("ours"))
    mine = found.pop(ours)
    found |= others(d, points, numbers[POINTS:], k)
    name, other = min(found.items(), key=lambda item: item[1], default=("none", float("nan")))
    rest = ", ".join(f"{name} {value:.3g}" for name, value in sorted(found.items()))
    kind = f"{d} tied" if tied == "true" else str(d)
    print(f"| {kind} | {secrets} | {k} | {mine:.3g} ({ours[5:]}) | {name} {other:.3g} | {mine / other:.2f} | {rest} |")
