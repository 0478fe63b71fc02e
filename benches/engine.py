"""Counting a discrete log against DuckDB's GROUP BY on the same file and threads, and how time and memory grow.

    pip install duckdb duckdb-cli
    cargo build --release --features engine
    python benches/engine.py [--directory DIR] [--rows N] [--runs K] [--threads T] [--numeric] [--plain]
                               [--secrets]

Makes the logs once, with DuckDB, and keeps them. Both times are those of whole processes: DuckDB's shell, which only
counts, and leakgauge with its audit (`estimate --quick --scorer frequentist`), read plainly and with `--engine`. The time of
DuckDB's query alone, in a process that is already running, stands beside them. Runs alternate; the best of each is
compared, once by the clock and once by processor time. `--plain` leaves `--engine` out and takes a
log of two columns (a build with `--features parquet` is enough). `--numeric` adds a log of ten columns of doubles, of which
a sample is kept. `--secrets` measures one log of 2,000 secrets with 1,000 observations instead, all pairs with limits.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time

import duckdb

DISCRETE = """SELECT (hash(i) % 10)::INT AS secret,
    CASE WHEN hash(i * 7 + 1) % 3 = 0 THEN hash(i) % 10 ELSE hash(i * 13 + 5) % 10 END::INT AS answer,
    (hash(i * 31 + 3) % 5)::INT AS bucket FROM range({rows}) t(i)"""
SECRETS = """SELECT (hash(i) % 2000)::INT AS secret,
    CASE WHEN hash(i * 7 + 1) % 10 = 0 THEN (hash(i) % 2000) // 2 ELSE hash(i * 13 + 5) % 1000 END::INT AS answer
    FROM range({rows}) t(i)"""
NUMERIC = """SELECT (hash(i) % 10)::INT AS secret, {columns} FROM range({rows}) t(i)"""


def make(path, query):
    if os.path.exists(path):
        return
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    form = "FORMAT PARQUET" if path.endswith(".parquet") else "FORMAT CSV, HEADER"
    connection.execute(f"COPY ({query}) TO '{path}' ({form})")


def shell(path, threads):
    """Seconds of DuckDB's shell with a query, and its processor time."""
    beside = os.path.join(os.path.dirname(sys.executable), "duckdb")
    program = shutil.which("duckdb") or beside
    columns = ", ".join(row[0] for row in duckdb.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall())
    query = f"SET threads = {threads}; SELECT {columns}, count(*) FROM '{path}' GROUP BY ALL"
    begun = time.perf_counter()
    process = subprocess.Popen([program, "-c", query], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"duckdb ended with {status}"
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime


def duck(path, threads):
    """Seconds of a query, and its processor time."""
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    columns = ", ".join(row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall())
    used, begun = processor(), time.perf_counter()
    connection.execute(f"SELECT {columns}, count(*) FROM '{path}' GROUP BY ALL").fetchall()
    return time.perf_counter() - begun, processor() - used


def processor():
    """Seconds of processor time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def gauge(program, path, threads, *options):
    """Seconds, processor time and MiB of a run."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [program, "estimate", path, "--threads", str(threads), *options],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"leakgauge ended with {status}"
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--directory", default="target/engine-bench")
    parser.add_argument("--program", default="target/release/leakgauge")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--numeric", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--secrets", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(arguments.directory, exist_ok=True)
    if arguments.secrets:
        path = f"{arguments.directory}/secrets-{arguments.rows}.csv"
        make(path, SECRETS.format(rows=arguments.rows))
        seconds, used, mebibytes = gauge(arguments.program, path, arguments.threads)
        print(f"2,000 secrets {arguments.rows:>12} rows  {seconds:7.2f} s, processor {used:7.2f} s  {mebibytes:6.0f} MiB")
        return
    for rows in (arguments.rows // 10, arguments.rows):
        for form in ("csv", "parquet"):
            columns = 2 if arguments.plain else 3
            path = f"{arguments.directory}/discrete-{rows}-{columns}.{form}"
            query = DISCRETE.format(rows=rows)
            make(path, f"SELECT secret, answer FROM ({query})" if arguments.plain else query)
            ways = {"plain": []} if arguments.plain else {"plain": [], "engine": ["--engine"]}
            theirs, queries, ours = [], [], {how: [] for how in ways}
            for _ in range(arguments.runs):
                theirs.append(shell(path, arguments.threads))
                queries.append(duck(path, arguments.threads))
                for how, more in ways.items():
                    options = ["--quick", "--scorer", "frequentist", *more]
                    ours[how].append(gauge(arguments.program, path, arguments.threads, *options))
            clock, used = (min(run[at] for run in theirs) for at in (0, 1))
            query = min(run[0] for run in queries)
            for how, runs in ours.items():
                seconds, processor_time = (min(run[at] for run in runs) for at in (0, 1))
                memory = max(run[2] for run in runs)
                print(f"{form:8}{rows:>12} rows  duckdb {clock:6.3f} s, processor {used:6.3f} s (query alone {query:.3f} s)  "
                      f"{how:6} {seconds:6.3f} s, processor {processor_time:6.3f} s  {memory:4.0f} MiB  "
                      f"speed {clock / seconds:5.2f}, by processor time {used / processor_time:5.2f}", flush=True)
    if arguments.numeric:
        columns = ", ".join(f"(hash(i * {11 + 2 * c} + {c}) % 1000000007) / 1e9 + (hash(i) % 10) / 50 AS x{c}" for c in range(10))
        path = f"{arguments.directory}/numeric-{arguments.rows}.parquet"
        make(path, NUMERIC.format(columns=columns, rows=arguments.rows))
        for options in ([],) if arguments.plain else ([], ["--engine"]):
            seconds, _, mebibytes = gauge(arguments.program, path, arguments.threads, "--quick", *options)
            print(f"numeric {arguments.rows:>12} rows  leakgauge {' '.join(options)} {seconds:7.2f} s  {mebibytes:6.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
