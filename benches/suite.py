#!/usr/bin/env python3
"""Known-truth suite: leakgauge beside fbleau 0.3.0 and a scikit-learn baseline on the same rows.

    cargo build --release
    cargo install fbleau --version 0.3.0      # optional
    pip install numpy scipy scikit-learn      # scikit-learn is optional
    benches/suite.py                          # 50 seeds, 10,000 rows a problem
    benches/suite.py --seeds 5 --only gauss   # a quick look

Every problem has a Bayes risk R* (uniform prior) and a worst pair that are known in closed form or by
quadrature. A log of --rows rows is drawn for each seed. fbleau and the baseline learn from its first
60 % and are judged on the rest; leakgauge gets the log and splits it itself. Printed: root mean square
errors of the Bayes risk (fbleau: the better of its estimators on that problem, by RMSE, which favors
it) and of the worst pair's Bayes security, the share of logs on which the upper limit of R* lay below
the truth, and seconds a log, one thread.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.stats import norm

BASELINES = {}
try:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    BASELINES = {
        "forest": lambda n: RandomForestClassifier(100, random_state=0, n_jobs=1),
        "logistic": lambda n: LogisticRegression(max_iter=1000),
        "neighbors": lambda n: KNeighborsClassifier(max(1, int(np.sqrt(n)))),
    }
except ImportError:
    pass


class Problem:
    """Secrets 0..k-1, a sampler of observations, and the truth."""

    def __init__(self, name, kind, secrets, draw, risk, security):
        self.name, self.kind, self.secrets = name, kind, secrets
        self.draw, self.risk, self.security = draw, risk, security

    def log(self, rows, seed):
        # Of the name, so that no two problems share random numbers.
        rng = np.random.default_rng([seed, *self.name.encode()])
        secret = rng.integers(0, self.secrets, rows)
        return secret, self.draw(secret, rng)


def channel(name, matrix, kind="discrete"):
    matrix = np.asarray(matrix, float)
    matrix /= matrix.sum(1, keepdims=True)
    cumulative = np.cumsum(matrix, 1)

    def draw(secret, rng):
        u = rng.random(len(secret))
        symbol = (u[:, None] >= cumulative[secret]).sum(1)
        return np.minimum(symbol, matrix.shape[1] - 1)[:, None]

    k = len(matrix)
    tv = max(0.5 * np.abs(matrix[a] - matrix[b]).sum() for a in range(k) for b in range(a))
    return Problem(name, kind, k, draw, 1 - matrix.max(0).sum() / k, 1 - tv)


def randomized_response(k, epsilon):
    matrix = np.ones((k, k))
    np.fill_diagonal(matrix, np.exp(epsilon))
    return channel(f"randomized-response k={k} eps={epsilon}", matrix)


def geometric(centers, a):
    support = np.arange(min(centers) - 200, max(centers) + 201)
    matrix = [a ** np.abs(support - c) for c in centers]
    problem = channel(f"geometric a={a} centers={len(centers)}", matrix)
    problem.kind = "numeric"
    inner = problem.draw
    problem.draw = lambda secret, rng: inner(secret, rng) + support[0]
    return problem


def densities(name, kind, k, draw, grid, density):
    """Truth by quadrature: `density(s)` on an even grid, `grid` its cell."""
    values = np.array([density(s) * grid for s in range(k)])
    risk = 1 - values.max(0).sum() / k
    tv = max(0.5 * np.abs(values[a] - values[b]).sum() for a in range(k) for b in range(a))
    return Problem(name, kind, k, draw, risk, 1 - tv)


def one_dimensional(name, means, noise, density, reach):
    means = np.asarray(means, float)
    x = np.linspace(means.min() - reach, means.max() + reach, 400_001)
    return densities(
        name, "numeric", len(means),
        lambda s, rng: (means[s] + noise(rng, len(s)))[:, None],
        x[1] - x[0], lambda s: density(x - means[s]))


def gaussian(means, sigma):
    return one_dimensional(
        f"gaussian sigma={sigma} secrets={len(means)}", means,
        lambda rng, n: sigma * rng.standard_normal(n), lambda z: norm.pdf(z, scale=sigma), 12 * sigma)


def laplace(means, scale):
    return one_dimensional(
        f"laplace scale={scale} secrets={len(means)}", means,
        lambda rng, n: rng.laplace(0, scale, n), lambda z: np.exp(-np.abs(z) / scale) / (2 * scale), 40 * scale)


def plane(name, means, noise, density, reach, step):
    means = np.asarray(means, float)
    x = np.arange(means[:, 0].min() - reach, means[:, 0].max() + reach, step) + step / 2
    y = np.arange(means[:, 1].min() - reach, means[:, 1].max() + reach, step) + step / 2
    gx, gy = np.meshgrid(x, y)
    return densities(
        name, "numeric", len(means), lambda s, rng: means[s] + noise(rng, len(s)), step * step,
        lambda s: density(gx - means[s, 0], gy - means[s, 1]))


def gaussian_plane(name, means):
    return plane(
        name, means, lambda rng, n: rng.standard_normal((n, 2)),
        lambda x, y: np.exp(-(x * x + y * y) / 2) / (2 * np.pi), 8, 0.02)


def planar_laplace(name, means, scale):
    def noise(rng, n):
        r, t = rng.gamma(2.0, scale, n), rng.random(n) * 2 * np.pi
        return np.stack([r * np.cos(t), r * np.sin(t)], 1)

    return plane(
        name, means, noise,
        lambda x, y: np.exp(-np.hypot(x, y) / scale) / (2 * np.pi * scale**2), 25 * scale, 0.04 * scale)


def gaussian_pair(name, d, difference, covariance=None):
    means = np.stack([np.zeros(d), difference])
    factor = np.eye(d) if covariance is None else np.linalg.cholesky(covariance)
    apart = np.linalg.norm(np.linalg.solve(factor, difference))
    risk = norm.cdf(-apart / 2)
    return Problem(
        name, "numeric", 2, lambda s, rng: means[s] + rng.standard_normal((len(s), d)) @ factor.T, risk, 2 * risk)


def simplex(k, d, length):
    means = length * np.eye(k, d)
    z = np.linspace(-12, 12 + length, 400_001)
    right = (norm.pdf(z - length) * norm.cdf(z) ** (k - 1)).sum() * (z[1] - z[0])
    return Problem(
        f"gaussian {d}-D simplex k={k}", "numeric", k,
        lambda s, rng: means[s] + rng.standard_normal((len(s), d)), 1 - right, 2 * norm.cdf(-length / np.sqrt(2)))


def mixed(name, shares, means, deviations):
    shares, means, deviations = (np.asarray(v, float) for v in (shares, means, deviations))
    cumulative = np.cumsum(shares, 1)
    x = np.linspace(-12, 12, 200_001)

    def draw(secret, rng):
        label = np.minimum((rng.random(len(secret))[:, None] >= cumulative[secret]).sum(1), shares.shape[1] - 1)
        value = means[secret, label] + deviations[secret, label] * rng.standard_normal(len(secret))
        return np.stack([label, value], 1)

    return densities(
        name, "mixed", len(shares), draw, x[1] - x[0],
        lambda s: np.array([shares[s, c] * norm.pdf(x, means[s, c], deviations[s, c])
                            for c in range(shares.shape[1])]))


def rare(k, delta):
    means = 50.0 + 10.0 * np.arange(k)
    x = np.linspace(-10, means[-1] + 10, 400_001)
    density = lambda s: (1 - delta) * norm.pdf(x) + delta * norm.pdf(x - means[s])

    def draw(secret, rng):
        leaks = rng.random(len(secret)) < delta
        return (np.where(leaks, means[secret], 0.0) + rng.standard_normal(len(secret)))[:, None]

    return densities(f"rare leak delta={delta}", "numeric", k, draw, x[1] - x[0], density)


def problems():
    rng = np.random.default_rng(2023)
    ten = list(range(10))
    square = [[0, 0], [1, 0], [0, 1], [1, 1]]
    cross = [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]
    line = [[i, 0] for i in range(5)]
    mixing = rng.standard_normal((10, 10))
    covariance = 0.3 * np.eye(10) + mixing @ mixing.T / 10
    return [
        *(randomized_response(2, e) for e in (0.1, 1, 4)),
        *(randomized_response(10, e) for e in (0.1, 2)),
        *(randomized_response(100, e) for e in (1, 4)),
        channel("channel 3x4", rng.dirichlet(np.ones(4), 3)),
        channel("channel 4x30", rng.dirichlet(np.ones(30), 4)),
        channel("channel 5x2000 sparse", rng.dirichlet(np.full(2000, 0.3), 5)),
        channel("deterministic 6 to 3", np.eye(3)[[0, 1, 2, 0, 1, 2]]),
        channel("leak-free 4x5", np.ones((4, 5))),
        channel("rare label delta=0.01", [[.33, .33, .33, .01, 0], [.33, .33, .33, 0, .01]]),
        geometric(ten, 0.5),
        geometric([0, 1, 4, 10], 0.75),
        gaussian(ten, 1), gaussian([0, 1], 1), gaussian([0, 4], 1),
        gaussian_leak_free(),
        laplace(ten, 0.25), laplace(ten, 1), laplace(ten, 5),
        rare(3, 0.001),
        gaussian_plane("gaussian 2-D square", square),
        gaussian_plane("gaussian 2-D cross", 2 * np.array(cross)),
        planar_laplace("planar laplace cross", cross, 1), planar_laplace("planar laplace line", line, 2),
        gaussian_pair("gaussian 10-D", 10, np.full(10, 10**-0.5)),
        gaussian_pair("gaussian 10-D correlated", 10, np.full(10, 0.4), covariance),
        simplex(5, 10, 1.0),
        gaussian_pair("gaussian 20-D", 20, np.full(20, 2 / 20**0.5)),
        mixed("mixed 2x2", [[.5, .5]] * 2, [[0, 0], [1, 0]], [[1, 1]] * 2),
        mixed("mixed 3x3", [[.6, .3, .1], [.3, .4, .3], [.1, .3, .6]],
              [[0, 2, -1], [.5, 2, 1], [0, 3, 1]], [[1, 1, .5], [1, 1, 1], [1, 2, 1]]),
    ]


def gaussian_leak_free():
    problem = gaussian([0, 0, 0], 1)
    problem.name = "gaussian leak-free"
    return problem


def write(path, secret, x):
    whole = (x == np.rint(x)).all(0)
    with open(path, "w") as out:
        for s, row in zip(secret.tolist(), x.tolist()):
            fields = (str(int(v)) if w else repr(v) for v, w in zip(row, whole))
            out.write(f"{s},{','.join(fields)}\n")


def ours(command, path, kind, dimensions, extra):
    options = ["--secret", "1", "--no-header", "--format", "json", "--threads", "1", *extra]
    if kind in ("discrete", "mixed"):
        options += ["--categorical", "2"]
    start = time.perf_counter()
    done = subprocess.run([command, "estimate", path, *options], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{path}: {done.stderr}")
    found = json.loads(done.stdout)
    risk, worst = found["overall"]["bayes_risk"], found["worst_pair"]["bayes_security"]
    return risk["point"], risk["upper"], worst["point"], worst["upper"], seconds, found["method"]["scorer"]


def fbleau(command, train, judge, arguments):
    start = time.perf_counter()
    done = subprocess.run([command, *arguments, train, judge], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    for line in reversed(done.stdout.splitlines()):
        if "inimum estimate" in line:
            return float(line.split()[-1]), seconds
    return None, seconds


def rmse(errors):
    return float(np.sqrt(np.mean(np.square(errors)))) if len(errors) else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rows-per-secret", type=int, help="instead of --rows")
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--leakgauge", default="target/release/leakgauge")
    parser.add_argument("--fbleau", default="fbleau")
    parser.add_argument("--no-fbleau", action="store_true")
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("--options", default="", help="further options of leakgauge")
    a = parser.parse_args()
    have_fbleau = not a.no_fbleau and subprocess.run(["which", a.fbleau], capture_output=True).returncode == 0
    baselines = {} if a.no_baseline else BASELINES
    print(f"{'problem':<34}{'R*':>8}{'ours':>8}{'fbleau':>8}{'ratio':>7}{'sklearn':>9}{'miss':>6}{'beta*':>8}{'miss':>6}"
          f"{'s':>7}{'fbleau':>8}  scorer")
    pooled = {"ours": [], "fbleau": [], "sklearn": [], "security": []}
    numeric = {"ours": [], "fbleau": [], "sklearn": []}
    for problem in problems():
        if a.only not in problem.name:
            continue
        rows = a.rows_per_secret * problem.secrets if a.rows_per_secret else a.rows
        found = {"ours": [], "security": [], "miss": 0, "pair_miss": 0, "seconds": 0.0, "scorers": {}}
        theirs = {name: [] for name in ("frequentist", "nn", "knn")}
        their_seconds, base = 0.0, {name: [] for name in baselines}
        for seed in range(a.seeds):
            secret, x = problem.log(rows, seed)
            cut = int(0.6 * rows)
            with tempfile.TemporaryDirectory() as folder:
                log, train, judge = (os.path.join(folder, f"{n}.csv") for n in ("log", "train", "judge"))
                write(log, secret, x)
                point, upper, security, pair_upper, seconds, scorer = ours(
                    a.leakgauge, log, problem.kind, x.shape[1], a.options.split())
                found["ours"].append(point - problem.risk)
                found["security"].append(security - problem.security)
                found["miss"] += upper is not None and upper < problem.risk - 1e-9
                found["pair_miss"] += pair_upper is not None and pair_upper < problem.security - 1e-9
                found["seconds"] += seconds
                found["scorers"][scorer] = found["scorers"].get(scorer, 0) + 1
                if have_fbleau:
                    write(train, secret[:cut], x[:cut])
                    write(judge, secret[cut:], x[cut:])
                    # Its neighbors take minutes on labels, and mean nothing there.
                    runs = {"frequentist": ["frequentist"]}
                    if problem.kind != "discrete":
                        runs = {"nn": ["nn"], "knn": ["knn", "--knn-strategy", "ln"]}
                    for name, arguments in runs.items():
                        estimate, seconds = fbleau(a.fbleau, train, judge, arguments)
                        if estimate is not None:
                            theirs[name].append(estimate - problem.risk)
                            their_seconds = max(their_seconds, seconds)
            for name, model in baselines.items():
                errors = model(cut).fit(x[:cut], secret[:cut]).predict(x[cut:]) != secret[cut:]
                base[name].append(errors.mean() - problem.risk)
        best = min((e for e in theirs.values() if e), key=rmse, default=[])
        baseline = min((e for e in base.values() if e), key=rmse, default=[])
        scorers = ",".join(f"{n}:{c}" for n, c in sorted(found["scorers"].items(), key=lambda i: -i[1]))
        ratio = rmse(found["ours"]) / rmse(best) if best and rmse(best) > 0 else float("nan")
        print(f"{problem.name:<34}{problem.risk:>8.4f}{rmse(found['ours']):>8.4f}{rmse(best):>8.4f}{ratio:>7.2f}"
              f"{rmse(baseline):>9.4f}{found['miss'] / a.seeds:>6.2f}{rmse(found['security']):>8.4f}"
              f"{found['pair_miss'] / a.seeds:>6.2f}{found['seconds'] / a.seeds:>7.2f}{their_seconds:>8.2f}  {scorers}",
              flush=True)
        for pool, kinds in ((pooled, None), (numeric, "numeric")):
            if kinds is None or problem.kind == kinds:
                for name, errors in (("ours", found["ours"]), ("fbleau", best), ("sklearn", baseline)):
                    pool[name] += list(errors)
        pooled["security"] += found["security"]
    for name, pool in (("all problems", pooled), ("numeric problems", numeric)):
        if pool["ours"]:
            line = ", ".join(f"{who} {rmse(errors):.4f}" for who, errors in pool.items() if errors)
            ratio = rmse(pool["ours"]) / rmse(pool["fbleau"]) if pool["fbleau"] else float("nan")
            print(f"pooled RMSE, {name}: {line} (ours/fbleau {ratio:.2f})")


if __name__ == "__main__":
    main()
