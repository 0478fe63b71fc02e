#!/usr/bin/env python3
"""Compare the answers of two leakgauge binaries.

    python3 tests/compare_binaries.py OLD NEW

Both binaries get the same arguments and the same files. The script compares exit codes, the JSON key
by key, and the files that a run writes. Numbers must be equal exactly. Text that is meant for people
may differ: it is counted, and listed with --prose. Keys that only NEW has are listed once.
Exit code: 0 if all is equal, 1 if something differs, 2 if a binary or a folder is missing.
Only the standard library is needed.
"""

import argparse
import csv
import fnmatch
import gzip
import json
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, Optional

# Renamed keys and words. The left side is a key ("in_words"), a path without numbers
# ("pairs.*.advantage") or a word that is a value ("plug-in"). The right side is the new key or word.
RENAMED = {}

# Intended differences: (pattern of the run, pattern of the key, reason). The patterns are those of
# fnmatch. A run is named by its command line, a key by its path ("claims.0.verdict"). Other keys are
# "exit code", "stdout", "stderr" and "file NAME".
EXPECTED = [
    (
        "reproduce bayes-security-numbers*",
        "file bayes-security-numbers.csv*",
        "the column of notes is prose: a note was reworded",
    ),
]

# Fields with text for people, or with the version of the program.
PROSE = set(
    "reason trade_off_reason message messages note notes assumptions in_words description about hint text "
    "explanation comment conclusion upper_side lower_side caption title advice version".split()
)
# Files of which a difference is only information.
PICTURES = {".svg", ".html", ".png"}
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
SECONDS_PER_RUN = 120
SHOWN_PER_RUN = 8

# Each mechanism is simulated, audited on its own log and given to `bounds`.
MECHANISMS = {
    "randomized-response": "randomized-response(epsilon=1, secrets=4)",
    "laplace": "laplace(scale=2, secrets=0..3)",
    "gaussian": "gaussian(sigma=1, secrets=0..2)",
    "geometric": "geometric(nu=0.5, secrets=0..3)",
    "truncated-geometric": "truncated-geometric(nu=0.5, secrets=0..3, spacing=2)",
    "normalized-geometric": "normalized-geometric(nu=0.5, secrets=0..3)",
    "exponential": "exponential(epsilon=2, secrets=0..3)",
    "staircase": "staircase(epsilon=1, secrets=0..2)",
    "discrete-gaussian": "discrete-gaussian(sigma=2, secrets=0..3)",
    "planar-laplace": "planar-laplace(scale=1, secrets=0..1)",
    "planar-geometric": "planar-geometric(nu=1, secrets=0..1)",
    "rappor": "rappor(epsilon=2, secrets=3)",
    "oue": "oue(epsilon=2, secrets=3)",
    "olh": "olh(epsilon=1, secrets=4)",
    "subset-selection": "subset-selection(epsilon=1, secrets=4, size=2)",
    "hadamard-response": "hadamard-response(epsilon=1, secrets=4)",
    "deterministic": "deterministic(modulus=2, secrets=4)",
    "identity": "identity(p=0.5, secrets=4, otherwise=none)",
    "mixture": "mixture(identity(0.5, secrets=3), randomized-response(1), weight=0.3)",
    "mallows": "mallows(n=3, theta=0.5)",
    "shuffled": "shuffled(randomized-response(epsilon=2, secrets=2), n=9)",
}

# One run a line; `--format json` is added to all but `simulate`. `!` is a run that must be refused,
# `< FILE` is standard input, [NAME] are runs that need the feature NAME.
TABLE = """
estimate datasets/crescents.csv --secret label --budget 1s
estimate datasets/geometric.csv
estimate datasets/headerless.csv --no-header --secret 2 --observe 1
estimate datasets/laplace.csv --seed 5
estimate datasets/leak-free.csv --confidence 0.9
estimate datasets/measured-comparison-wide.csv --wide
estimate datasets/measured-comparison.csv --budget 2s
estimate datasets/measured-comparison.jsonl.zst --secret compared.wrong --observe took
estimate datasets/measured-constant-time.csv --split blocks
estimate datasets/membership-losses.csv --observe loss --quick
estimate datasets/mixed.csv
estimate datasets/mixed.csv --quick
estimate datasets/mixed.csv --scorer forest --quick --seed 3
estimate datasets/mixed.csv --scorer knn --quick
estimate datasets/membership-losses.csv --observe loss --budget 5s
estimate datasets/randomized-response-broken.csv
estimate datasets/randomized-response-correct.csv --prior empirical
estimate datasets/randomized-response-counts.csv --count rows
audit datasets/randomized-response-correct.csv --claim 'randomized-response(epsilon=1, secrets=4)' --claim 'ldp(epsilon=1)'
audit datasets/randomized-response-broken.csv --claim 'randomized-response(epsilon=1)' --claim 'ldp(epsilon=1)'
audit datasets/randomized-response-counts.csv --count rows --claim 'dp(epsilon=1, delta=0.02)'
audit datasets/laplace.csv --claim 'laplace(scale=3)' --claim 'laplace(scale=2)' --claim 'attack-advantage(0.95)'
audit datasets/geometric.csv --claim 'geometric(nu=0.05)' --claim 'geometric(nu=0.1)' --margin 0.1
audit datasets/leak-free.csv --claim 'bayes-security(0.9)' --claim 'advantage(0.1)'
audit datasets/mixed.csv --observe answer --claim 'bayes-security(0.65)'
audit datasets/headerless.csv --no-header --secret 2 --observe 1 --claim 'gaussian(sigma=2)'
audit datasets/measured-constant-time.csv --claim 'bayes-security(0.9)' --resolution nanoseconds=100
audit datasets/measured-comparison-wide.csv --wide --claim 'bayes-security(0.9)' --quick
audit datasets/membership-losses.csv --scorer given --scores loss --claim 'ldp(epsilon=2)' --claim 'attack-advantage(0.2)'
audit logs/gaussian.csv --claim 'gdp(mu=1)' --claim 'gdp(mu=2, unit=1)' --claim 'zcdp(rho=0.1)' --claim 'zcdp(rho=2, unit=1)'
audit logs/laplace.csv --claim 'ldp(epsilon=0.5, unit=1)' --claim 'dp(epsilon=0.1, delta=1e-5)' --claim 'dp(epsilon=0.5, delta=1e-5, unit=1)'
audit logs/mallows.csv --claim 'dsigma(alpha=0.2)' --claim 'dsigma(alpha=3, group=1..3)'
audit logs/parts-3.csv --claim 'advantage(0.1)' --confidence 0.8
audit 'logs/parts-*.csv' --claim 'advantage(0.9)' --claim 'ldp(1)'
estimate logs/rr.tsv --delimiter tab
estimate logs/rr-semicolon.csv --secrets 0,2
estimate logs/rr-crlf.csv --prior '0=0.1,1=0.2,2=0.3,3=0.4'
estimate logs/rr.csv.gz
estimate logs/rr.csv.zst
estimate logs/rr-quoted.csv --secret 'the secret'
estimate logs/rr-counts.csv --count n --max-rows 1000
estimate logs/rr-headerless.csv --no-header --secret 1
estimate logs/randomized-response.csv --header --categorical observation
estimate logs/parts-1.csv logs/parts-2.csv logs/parts-3.csv
estimate logs/parts-1.csv --fit-on logs/parts-2.csv
estimate logs/laplace.csv --fit-on logs/laplace-2.csv --resolution observation=1
estimate - --seed 11 < logs/randomized-response.csv
estimate - --secret s.id < logs/nested.jsonl
estimate logs/nested.jsonl --secret s.id --observe took,when,low --budget 1s
estimate logs/gaps.jsonl --categorical x
estimate logs/lists.csv --list sizes=first:2 --list sizes=sum
estimate logs/lists.jsonl --list sizes=length --list sizes=set
estimate logs/points.csv --secret sx,sy --quick
estimate logs/wide.csv --wide --secrets 0,3
estimate logs/laplace.csv --max-rows 1000
estimate logs/laplace.csv --max-rows 1500 --seed 4 --prior empirical
estimate logs/laplace.csv --threads 1 --budget 100ms
estimate logs/laplace.csv --threads 2 --budget 100ms
estimate datasets/mixed.csv --numeric milliseconds --categorical answer --resolution milliseconds=0.5 --quick
estimate logs/randomized-response.csv --scorer frequentist
estimate logs/laplace.csv --scorer auto --confidence 0.99
estimate logs/laplace.csv --scorer knn
estimate logs/laplace.csv --scorer nearest --plots out/plots --html out/page.html
estimate logs/laplace.csv --scorer linear
estimate logs/laplace.csv --scorer gaussian
estimate logs/laplace.csv --scorer forest
estimate logs/laplace.csv --scorer threshold
estimate logs/scores.csv --scorer given --scores 0=a,1=b,2=c,3=d
estimate logs/planar-laplace.csv --split random --seed 2
estimate logs/identity.csv --split blocks
estimate - --follow --every 1000 < logs/laplace.csv
audit - --follow --every 500 --claim 'advantage(0.1)' < logs/randomized-response.csv
audit - --follow --every 1000 --claim 'ldp(epsilon=3)' --claim 'advantage(0.9)' --confidence 0.9 < logs/randomized-response.csv
audit logs/laplace.csv --claim 'laplace(scale=2)' --plots out/plots
compare datasets/randomized-response-broken.csv datasets/randomized-response-correct.csv --mechanism 'randomized-response(epsilon=1)'
compare logs/parts-1.csv logs/parts-2.csv logs/parts-3.csv --against first --plots out/plots
compare logs/parts-1.csv logs/parts-2.csv --mechanism 'randomized-response(epsilon=0.5..1:2)' --html out/page.html
compare logs/laplace.csv logs/laplace-2.csv --mechanism 'laplace(scale=2)' --mechanism 'laplace(scale=3)' --quick
compare logs/laplace.csv logs/laplace-2.csv --scorer linear --prior empirical
bounds 'randomized-response(epsilon=0.5..2:4, secrets=10)'
bounds 'laplace(scale=0.5..4:8, secrets=0..9)' --at-epsilon 1
bounds 'gaussian(epsilon=0.5, delta=1e-5, secrets=0..1)' --at-epsilon 0.5
bounds 'ldp(epsilon=0.1..5:5)' --secrets 10 --values 4 --records 3
bounds 'dp(epsilon=1, delta=1e-5)' --group 3 --values 2 --largest-prior 0.6
bounds 'gdp(mu=0.5..2:4)'
bounds 'zcdp(rho=0.5)' --group 2
bounds 'bayes-security(0.9)' --secrets 5
bounds 'advantage(0.1)'
channel logs/matrix.csv --prior 0.5,0.3,0.2 --epsilon 0.5,1
channel logs/matrix.csv --pair a,c --gain logs/gain.csv
channel logs/matrix.csv --loss logs/gain.csv --method direct
channel logs/matrix.csv logs/second.csv --compose cascade --method pruned
channel logs/matrix.csv logs/third.csv --compose parallel --repeat 2 --method embedding
channel logs/counts-matrix.csv --normalize --no-labels --no-header
channel 'randomized-response(epsilon=1, secrets=4)' --repeat 3
channel 'truncated-geometric(nu=0.5, secrets=0..5)' --prior uniform
shuffle reidentify --target 'zipf(exponent=0.7, size=1000)' --decoys uniform --n 5,20,1e12 --guesses 1,3 --success 0.2
shuffle reidentify --target logs/p.csv --decoys logs/q.csv --n 2..50 --guesses 1,2 --plots out --accounts 200
shuffle reidentify --target logs/sample-p.csv --decoys logs/sample-q.csv --n 2..1000:4 --guesses 1 --seed 3
shuffle reidentify --randomizer 'laplace(epsilon=1)' --inputs 0,1 --input 0,0.5 --n 10,1000
shuffle reidentify --randomizer 'gaussian(sigma=1)' --inputs 0,1 --input 1 --against 0 --n 10,100
shuffle information --target 'zipf(0.7, size=4)' --best-decoys --n 10,100,1000
shuffle information --target logs/p.csv --decoys logs/q.csv --n 5,10 --samples 2000 --seed 2 --best-decoys-to out/best.csv
shuffle information --target logs/p.csv --users logs/p.csv=10,logs/q.csv=5
shuffle information --randomizer 'randomized-response(epsilon=1, secrets=4)' --n 100,1000
shuffle information --randomizer 'randomized-response(epsilon=1, secrets=2)' --known 20,20
shuffle vulnerability --values 2,5 --keep 0.6,0.8 --n 10,1000,1000000
shuffle vulnerability --values 2 --keep 0.8 --known 100,100
shuffle vulnerability --randomizer 'truncated-geometric(nu=1, secrets=0..1)' --prior 0.3,0.7 --n 10 --samples 2000
shuffle vulnerability --randomizer logs/matrix.csv --n 20 --samples 2000 --seed 9
permute datasets/crescents.csv --move label --groups distance --by x,y --radius 0.05 --alpha 1 --epsilon 2.55 --values 0,1,2,3,4,5,6,7 --subsets 1 --also 0.1 --seed 1 --out out/shuffled.csv --report out/report.json
permute datasets/crescents.csv --move label --groups nearest --by x,y --size 6 --alpha 2 --distance hamming --eta 0.7 --trials 100 --seed 2 --out out/shuffled.csv --group-report out/groups.csv --permutation out/moves.csv
permute logs/people.csv --move vote --groups haversine --by lat,lon --radius 60 --alpha 4 --order sweep --previous 1,2 --seed 3 --out out/shuffled.csv
permute logs/people.csv --move vote --groups equal --by town --alpha 4 --order two-ended --bound-by-width --seed 4 --out out/shuffled.csv
permute logs/people.csv --move vote --groups path --edges logs/edges.csv --id name --radius 2 --alpha 4 --order breadth-first --seed 5 --out out/shuffled.csv
permute logs/people.csv --move vote --groups file --group-file logs/groups.csv --id name --alpha 1 --randomizer 'randomized-response(1)' --seed 6 --out out/shuffled.csv
simulate 'laplace(scale=1, secrets=0..1)' --rows 300 --seed 1 --no-header
simulate 'mallows(n=4, alpha=1)' --rows 300
reproduce --list
reproduce bayes-security-figure-1 --out out
reproduce bayes-security-numbers --out out
reproduce shuffle-flow-tables --out out
reproduce dsigma-figure-9 --out out
reproduce reidentification-figure-5 --out out
!estimate logs/nosuchfile.csv
!estimate logs/empty.csv
!estimate logs/ragged.csv
!estimate logs/word.csv
!estimate logs/decimal.csv
!estimate logs/one-secret.csv
!estimate logs/cut.jsonl
!estimate logs/cut.csv.gz
!estimate datasets/crescents.csv
!estimate datasets/measured-comparison-wide.csv --wide --split blocks
!estimate logs/laplace.csv --max-rows 800
!estimate logs/laplace.csv --observe nothing
!estimate logs/laplace.csv --secrets 0,77
!estimate logs/laplace.csv --confidence 1.5
!estimate logs/laplace.csv --prior '0=0.5,1=0.6'
!estimate logs/laplace.csv --resolution observation=0
!estimate logs/laplace.csv --scorer magic
!estimate logs/laplace.csv --no-such-option
!estimate logs/laplace.csv --count observation
!estimate logs/mallows.csv --scorer knn
estimate logs/lists.csv --list sizes=first:3
!audit logs/laplace.csv
!audit logs/laplace.csv --claim 'ldp(epsilom=1)'
!audit logs/laplace.csv --claim 'magic(1)'
!audit logs/mallows.csv --claim 'laplace(scale=2)'
!audit - --follow --claim 'laplace(scale=2)' < logs/laplace.csv
!compare logs/laplace.csv
!bounds 'laplace(scale=0)'
!channel logs/counts-matrix.csv --no-labels --no-header
!channel logs/matrix.csv logs/second.csv
!shuffle vulnerability --values 1 --keep 0.8 --n 10
!permute logs/people.csv --move vote --groups equal --by nothing --alpha 1
!simulate 'laplace(scale=1)' --rows 10
!reproduce no-such-figure --out out
[parquet]
estimate logs/laplace.parquet
estimate logs/rr.parquet --fit-on logs/rr-2.parquet --quick
audit logs/rr.parquet --claim 'ldp(epsilon=1)' --categorical observation
estimate logs/rr.parquet logs/rr-2.parquet --prior empirical
!estimate logs/cut.parquet
!estimate golden/columnar/checksum.parquet
!estimate golden/columnar/encrypted-footer.parquet
[engine]
estimate logs/randomized-response.csv --engine
estimate logs/laplace.csv --engine --max-rows 1000 --quick
estimate datasets/mixed.csv --where 'milliseconds < 8' --quick
audit 'logs/parts-*.csv' --where 'secret < 3' --claim 'ldp(epsilon=1)'
!estimate logs/laplace.csv --where 'nothing > 3'
"""

# A run that a binary without the feature refuses with a message that names the feature.
PROBES = {"parquet": "estimate logs/laplace.parquet", "engine": "estimate logs/laplace.csv --engine"}


class Run(NamedTuple):
    name: str
    arguments: list
    stdin: Optional[str] = None
    needs: Optional[str] = None
    refused: bool = False


class Outcome(NamedTuple):
    code: object
    stdout: bytes
    stderr: str
    files: dict
    seconds: float


class Findings:
    """What differs in one run."""

    def __init__(self):
        self.differences = []
        self.prose = []
        self.new_keys = set()


# The logs


def simulate(old, mechanism, rows, seed, path):
    command = [old, "simulate", mechanism, "--rows", str(rows), "--seed", str(seed)]
    path.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def write_rows(path, rows, delimiter=",", end="\n", encoding="utf-8"):
    with open(path, "w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=delimiter, lineterminator=end).writerows(rows)


def write_json_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def zstd_stored(data):
    """A zstd frame with blocks that are not compressed."""
    frame = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(data))
    size = 100_000
    for start in range(0, len(data), size):
        block = data[start : start + size]
        last = start + size >= len(data)
        frame += struct.pack("<I", len(block) << 3 | last)[:3] + block
    return frame


def make_logs(old, folder):
    """Draw logs with OLD and write them in several forms."""
    for seed, (name, mechanism) in enumerate(MECHANISMS.items()):
        simulate(old, mechanism, 3000, seed, folder / f"{name}.csv")
    simulate(old, "laplace(scale=3, secrets=0..3)", 3000, 31, folder / "laplace-2.csv")
    for part in (1, 2, 3):
        mechanism = f"randomized-response(epsilon={part / 2}, secrets=4)"
        simulate(old, mechanism, 2500, 40 + part, folder / f"parts-{part}.csv")
    delimited_logs(folder, rows_of(folder / "randomized-response.csv"))
    shaped_logs(folder, rows_of(folder / "laplace.csv")[1:])
    parquet_logs(folder)
    exact_inputs(folder)
    people(folder)
    broken_logs(folder)


def delimited_logs(folder, rows):
    write_rows(folder / "rr.tsv", rows, "\t")
    write_rows(folder / "rr-semicolon.csv", rows, ";")
    write_rows(folder / "rr-crlf.csv", rows, end="\r\n", encoding="utf-8-sig")
    write_rows(folder / "rr-headerless.csv", rows[1:])
    quoted = [[f"number {a}, quoted", f'the "{b}"'] for a, b in rows[1:]]
    write_rows(folder / "rr-quoted.csv", [["the secret", "answer"]] + quoted)
    counts = Counter(map(tuple, rows[1:]))
    counted = sorted([*row, n] for row, n in counts.items())
    write_rows(folder / "rr-counts.csv", [["secret", "observation", "n"]] + counted)
    data = (folder / "randomized-response.csv").read_bytes()
    (folder / "rr.csv.gz").write_bytes(gzip.compress(data, mtime=0))
    (folder / "rr.csv.zst").write_bytes(zstd_stored(data))


def shaped_logs(folder, rows):
    """JSON lines, lists, a wide log, scores of an attack, and secrets of two columns."""
    numbers = [(secret, float(value)) for secret, value in rows]
    nested = [
        {"s": {"id": int(s)}, "took": f"{abs(v):.3f}ms", "when": f"2026-01-01T12:00:{i % 60:02}Z", "low": v < 0}
        for i, (s, v) in enumerate(numbers)
    ]
    write_json_lines(folder / "nested.jsonl", nested)
    gaps = [{"secret": s, "x": round(v), "y": None if v > 4 else s} for s, v in numbers]
    for record in gaps[::7]:
        del record["y"]
    write_json_lines(folder / "gaps.jsonl", gaps)
    lists = [(s, [round(v), 1, int(s)][: 2 + (v > 0)]) for s, v in numbers]
    write_json_lines(folder / "lists.jsonl", [{"secret": s, "sizes": sizes} for s, sizes in lists])
    table = [[s, json.dumps(sizes)] for s, sizes in lists]
    write_rows(folder / "lists.csv", [["secret", "sizes"]] + table)
    columns = [[v for s, v in rows if s == secret] for secret in "0123"]
    longest = max(map(len, columns))
    wide = [[c[i] if i < len(c) else "" for c in columns] for i in range(longest)]
    write_rows(folder / "wide.csv", [list("0123")] + wide)
    scores = [[s] + [round(-((v - k) ** 2), 6) for k in range(4)] for s, v in numbers]
    write_rows(folder / "scores.csv", [["secret", *"abcd"]] + scores)
    points = rows_of(folder / "planar-laplace.csv")[1:]
    points = [[*secret.split(";"), x, y] for secret, x, y in points]
    write_rows(folder / "points.csv", [["sx", "sy", "x", "y"]] + points)


def parquet_logs(folder):
    for source, target in [("laplace", "laplace"), ("randomized-response", "rr"), ("parts-1", "rr-2")]:
        data = parquet(rows_of(folder / f"{source}.csv")[1:])
        (folder / f"{target}.parquet").write_bytes(data)
    (folder / "cut.parquet").write_bytes(data[:-20])


def exact_inputs(folder):
    """Matrices and distributions for `channel` and `shuffle`."""
    files = {
        "matrix.csv": "secret,x,y,z\na,0.7,0.2,0.1\nb,0.25,0.5,0.25\nc,0.125,0.125,0.75\n",
        "second.csv": "in,u,v\nx,0.9,0.1\ny,0.5,0.5\nz,0.25,0.75\n",
        "third.csv": "secret,u,v\na,0.9,0.1\nb,0.5,0.5\nc,0.25,0.75\n",
        "counts-matrix.csv": "3,1,4\n1,5,9\n2,6,5\n",
        "gain.csv": "guess,a,b,c\none,1,0,0\ntwo,0,1,0.5\nthree,0.25,0.25,1\n",
        "p.csv": "label,probability\na,0.5\nb,0.25\nc,0.125\nd,0.125\n",
        "q.csv": "label,probability\na,0.25\nb,0.25\nc,0.25\nd,0.25\n",
        "sample-p.csv": "message\n" + "a\na\nb\na\nc\nb\na\nd\n" * 40,
        "sample-q.csv": "message\n" + "a\nb\nc\nd\n" * 90,
    }
    for name, text in files.items():
        (folder / name).write_text(text)


def people(folder):
    """Rows for `permute`, with a graph and a list of groups."""
    names = [f"p{i}" for i in range(60)]
    rows = [
        [name, 48 + i * 7 % 60 / 30, 11 + i * 11 % 60 / 30, f"town{i % 6}", "no" if i * i % 7 > 2 else "yes"]
        for i, name in enumerate(names)
    ]
    write_rows(folder / "people.csv", [["name", "lat", "lon", "town", "vote"]] + rows)
    edges = [[a, b] for a, b in zip(names, names[1:])] + [["p0", "p30"], ["p10", "p50"]]
    write_rows(folder / "edges.csv", [["from", "to"]] + edges)
    groups = [[f"g{i // 8}", name] for i, name in enumerate(names)]
    write_rows(folder / "groups.csv", [["group", "name"]] + groups)


def broken_logs(folder):
    good = "".join(f"{i % 2},{i}.5\n" for i in range(60))
    files = {
        "empty.csv": "",
        "ragged.csv": "secret,x\n" + good + "1,2,3\n",
        "word.csv": "secret,x\n" + good * 200 + "1,word\n",
        "decimal.csv": "secret;x\n" + good.replace(",", ";").replace(".", ","),
        "one-secret.csv": "secret,x\n" + "1,2.5\n1,3.5\n" * 20,
        "cut.jsonl": '{"secret": 1, "x": 2}\n{"secret": 0, "x": 3}\n' * 20 + '{"secret": 1, "x"',
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    packed = (folder / "rr.csv.gz").read_bytes()
    (folder / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])


# A Parquet file: one row group, no compression. The metadata is in Thrift's compact protocol.


class Long(int):
    """A Thrift integer of 64 bits; a plain `int` has 32."""


def varint(number):
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def thrift(value):
    """The type of a value and its bytes. A dictionary from field numbers to values is a struct."""
    if isinstance(value, int):
        return 6 if isinstance(value, Long) else 5, varint(value << 1)
    if isinstance(value, bytes):
        return 8, varint(len(value)) + value
    if isinstance(value, list):
        items = [thrift(item) for item in value]
        assert len(items) < 15
        return 9, bytes([len(items) << 4 | items[0][0]]) + b"".join(data for _, data in items)
    data, last = b"", 0
    for field, (kind, content) in ((field, thrift(item)) for field, item in value.items()):
        data += bytes([field - last << 4 | kind]) + content
        last = field
    return 12, data + b"\0"


def parquet(rows):
    """The bytes of a Parquet file with the columns `secret` (text) and `observation` (number)."""
    secrets = b"".join(struct.pack("<I", len(s)) + s.encode() for s, _ in rows)
    values = struct.pack(f"<{len(rows)}d", *(float(value) for _, value in rows))
    data, chunks, total = b"PAR1", [], 0
    for name, kind, page in [(b"secret", 6, secrets), (b"observation", 5, values)]:
        header = {1: 0, 2: len(page), 3: len(page), 5: {1: len(rows), 2: 0, 3: 3, 4: 3}}
        start, page = len(data), thrift(header)[1] + page
        data, total = data + page, total + len(page)
        size = Long(len(page))
        column = {1: kind, 2: [0], 3: [name], 4: 0, 5: Long(len(rows)), 6: size, 7: size, 9: Long(start)}
        chunks.append({2: Long(start), 3: column})
    text, number = {1: 6, 3: 0, 4: b"secret", 6: 0}, {1: 5, 3: 0, 4: b"observation"}
    group = {1: chunks, 2: Long(total), 3: Long(len(rows))}
    footer = thrift({1: 1, 2: [{4: b"schema", 5: 2}, text, number], 3: Long(len(rows)), 4: [group]})[1]
    return data + footer + struct.pack("<I", len(footer)) + b"PAR1"


# The runs


def parse(line, needs=None):
    """A run from a line of the table."""
    refused = line.startswith("!")
    name = line.lstrip("!")
    words, stdin = shlex.split(name), None
    if "<" in words:
        at = words.index("<")
        words, stdin = words[:at], words[at + 1]
    if words[0] != "simulate":
        words += ["--format", "json"]
    return Run(name, words, stdin, needs, refused)


def all_runs():
    runs, needs = [], None
    for line in filter(None, TABLE.splitlines()):
        if line.startswith("["):
            needs = line.strip("[]")
        else:
            runs.append(parse(line, needs))
    for name, mechanism in MECHANISMS.items():
        runs.append(parse(f"simulate '{mechanism}' --rows 400 --seed 7"))
        runs.append(parse(f"audit logs/{name}.csv --claim '{mechanism}' --quick"))
        runs.append(parse(f"bounds '{mechanism}'"))
    return runs


def execute(binary, run, folder, shared):
    """Run a binary in a new folder, in which `out` receives the files that it writes."""
    (folder / "out").mkdir(parents=True)
    for name, target in shared.items():
        (folder / name).symlink_to(target)
    given = (folder / run.stdin).read_bytes() if run.stdin else b""
    command = [binary, *run.arguments]
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=folder, input=given, capture_output=True, timeout=SECONDS_PER_RUN)
        code, stdout, stderr = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, stdout, stderr = f"no end after {SECONDS_PER_RUN} s", b"", b""
    written = sorted(path for path in (folder / "out").rglob("*") if path.is_file())
    files = {str(path.relative_to(folder / "out")): path.read_bytes() for path in written}
    return Outcome(code, stdout, stderr.decode(errors="replace"), files, time.monotonic() - start)


def lacking(binary, name, folder, shared):
    """Does a binary lack a feature?"""
    probe = execute(binary, parse(PROBES[name]), folder, shared)
    return probe.code == 2 and f"--features {name}" in probe.stderr


# The comparison


def general(path):
    """A path with `*` in place of numbers."""
    return ".".join("*" if part.isdigit() else part for part in path.split("."))


def is_prose(key, *values):
    def is_text(value):
        return value is None or isinstance(value, str)

    return key in PROSE and all(
        is_text(value) or isinstance(value, list) and all(map(is_text, value)) for value in values
    )


def same(old, new):
    """Are two values equal? True is not 1, and 1.0 is 1."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    return old == new or isinstance(old, str) and old in RENAMED and RENAMED[old] == new


def compare_values(old, new, path, found):
    if is_prose(path.rpartition(".")[2], old, new):
        if old != new:
            found.prose.append((path, old, new))
    elif isinstance(old, dict) and isinstance(new, dict):
        compare_objects(old, new, path, found)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            found.differences.append((path, f"{len(old)} entries", f"{len(new)} entries"))
        for index, (a, b) in enumerate(zip(old, new)):
            compare_values(a, b, f"{path}.{index}".lstrip("."), found)
    elif not same(old, new):
        found.differences.append((path, old, new))


def compare_objects(old, new, path, found):
    used = set()
    for key, value in old.items():
        inner = f"{path}.{key}".lstrip(".")
        name = RENAMED.get(general(inner), RENAMED.get(key, key))
        name = name if name in new else key
        used.add(name)
        if name in new:
            compare_values(value, new[name], inner, found)
        else:
            found.differences.append((inner, value, "(no such key)"))
    for key in new.keys() - used:
        found.new_keys.add(general(f"{path}.{key}".lstrip(".")))


def documents(data):
    """The JSON documents in an output: one, or one a line; None if it is no JSON."""
    try:
        return [json.loads(data)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in data.splitlines()] or None
    except ValueError:
        return None


def compare_json(old, new, key, found):
    """Compare JSON by its keys; compare the bytes if one of the two is no JSON."""
    a, b = documents(old), documents(new)
    if not a or not b:
        compare_bytes(old, new, key, found)
    elif len(a) == len(b) == 1:
        compare_values(a[0], b[0], "", found)
    else:
        compare_values(a, b, "", found)


def compare_bytes(old, new, key, found):
    if old == new:
        return
    lines = zip_longest(*(data.decode(errors="replace").splitlines(True) for data in (old, new)))
    number, (x, y) = next((number, pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1])
    found.differences.append((key, f"line {number}: {x or '(end)'}", y or "(end)"))


def compare_files(old, new, found):
    for name, data in old.items():
        if name not in new:
            found.differences.append((f"file {name}", "written", "not written"))
        elif Path(name).suffix == ".json":
            compare_json(data, new[name], f"file {name}", found)
        elif Path(name).suffix not in PICTURES:
            compare_bytes(data, new[name], f"file {name}", found)
        elif data != new[name]:
            found.prose.append((f"file {name}", "a picture", "another picture"))
    found.new_keys.update(f"file {name}" for name in new.keys() - old.keys())


def message_count(stderr):
    """Messages of an error: one begins with `error:`, a crash of the program is none."""
    lines = stderr.splitlines()
    return 0 if "panicked" in stderr else sum(line.startswith("error:") for line in lines)


def compare_run(run, old, new):
    found = Findings()
    if (old.code == 2) != run.refused:
        found.differences.append(("exit code", f"{old.code}: the table is wrong about OLD", new.code))
    elif old.code != new.code:
        found.differences.append(("exit code", old.code, f"{new.code} {new.stderr.strip()[:200]}"))
    if old.code == new.code == 2:
        counts = message_count(old.stderr), message_count(new.stderr)
        if counts != (1, 1):
            found.differences.append(("stderr", f"{counts[0]} messages", f"{counts[1]} messages"))
    if old.stderr != new.stderr:
        found.prose.append(("stderr", old.stderr, new.stderr))
    if old.code == new.code:
        compare = compare_json if "json" in run.arguments else compare_bytes
        compare(old.stdout, new.stdout, "stdout", found)
        compare_files(old.files, new.files, found)
    return found


# The report


def reason_of(run, path):
    for run_pattern, key_pattern, reason in EXPECTED:
        if fnmatch.fnmatch(run.name, run_pattern) and fnmatch.fnmatch(path, key_pattern):
            return reason
    return None


def short(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.strip().replace("\n", " / ")
    return text if len(text) <= 160 else text[:157] + "..."


def show_differences(run, found, intended):
    """Print what differs in a run; return whether anything differs that is not intended."""
    left = []
    for path, old, new in found.differences:
        reason = reason_of(run, path)
        if reason:
            intended[reason].append((run.name, path))
        else:
            left.append((path, old, new))
    if left:
        print(f"different: {run.name}")
    for path, old, new in left[:SHOWN_PER_RUN]:
        print(f"  {path or 'stdout'}: {short(old)} -> {short(new)}")
    if len(left) > SHOWN_PER_RUN:
        print(f"  and {len(left) - SHOWN_PER_RUN} more")
    return bool(left)


def show_prose(results):
    for run, found in results:
        if found.prose:
            print(f"prose: {run.name}")
        for path, old, new in found.prose:
            print(f"  {path}:\n    - {short(old)}\n    + {short(new)}")


def count_prose(results):
    """How many texts and pictures differ, and how many of the texts in a number."""
    pairs = [(path, old, new) for _, found in results for path, old, new in found.prose]
    pictures = sum(path.startswith("file ") for path, _, _ in pairs)
    numbers = sum(NUMBER.findall(str(old)) != NUMBER.findall(str(new)) for _, old, new in pairs)
    return f"prose: {len(pairs) - pictures} texts and {pictures} pictures differ, {numbers} texts in a number"


def report(results, skipped, seconds, prose):
    """Print everything; return the exit code."""
    intended = {reason: [] for _, _, reason in EXPECTED}
    different = sum(show_differences(run, found, intended) for run, found in results)
    if prose:
        show_prose(results)
    for reason, places in intended.items():
        print(f"expected: {reason}: {len(places)} differences")
        for name, path in places[:3]:
            print(f"  for instance {path} of {name}")
    new_keys = Counter(key for _, found in results for key in found.new_keys)
    for key, count in sorted(new_keys.items()):
        print(f"new key: {key} ({count} runs)")
    for feature, count in skipped.items():
        print(f"skipped: {count} runs need the feature {feature}")
    print(count_prose(results) + ("" if prose else " (--prose lists them)"))
    print(
        f"runs: {len(results)}, equal: {len(results) - different}, different: {different}, "
        f"skipped: {sum(skipped.values())}, {seconds:.0f} s"
    )
    return 1 if different else 0


def perform(runs, old, new, work, shared):
    """Do all runs, two at a time, each with OLD and with NEW."""

    def one(item):
        number, (run, binary) = item
        return execute(binary, run, work / f"run-{number}", shared)

    jobs = [(run, binary) for run in runs for binary in (old, new)]
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(one, enumerate(jobs)))
    return list(zip(runs, outcomes[::2], outcomes[1::2]))


def arguments():
    parser = argparse.ArgumentParser(description="Compare the answers of two leakgauge binaries.")
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    default = Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=Path, default=default, help="the checkout with datasets/ and tests/")
    parser.add_argument("--prose", action="store_true", help="list differences of text and pictures")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="only runs whose command line matches")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="list the N slowest runs")
    given = parser.parse_args()
    for path in (given.old, given.new, given.root / "datasets"):
        if not path.exists():
            parser.error(f"{path}: no such file or folder")
    return given


def main():
    given = arguments()
    old, new = given.old.resolve(), given.new.resolve()
    os.nice(max(0, 10 - os.nice(0)))
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="compare-binaries-") as name:
        work = Path(name)
        root = given.root.resolve()
        shared = {"datasets": root / "datasets", "golden": root / "tests" / "golden", "logs": work / "logs"}
        (work / "logs").mkdir()
        make_logs(old, work / "logs")
        missing = {
            feature
            for feature in PROBES
            for side, binary in (("old", old), ("new", new))
            if lacking(binary, feature, work / f"probe-{feature}-{side}", shared)
        }
        chosen = [run for run in all_runs() if fnmatch.fnmatch(run.name, given.only)]
        skipped = Counter(run.needs for run in chosen if run.needs in missing)
        runs = [run for run in chosen if run.needs not in missing]
        done = perform(runs, old, new, work, shared)
    results = [(run, compare_run(run, a, b)) for run, a, b in done]
    for run, a, b in sorted(done, key=lambda item: -item[1].seconds)[: given.slowest]:
        print(f"{a.seconds:6.2f} s, {b.seconds:6.2f} s: {run.name}")
    return report(results, skipped, time.monotonic() - start, given.prose)


if __name__ == "__main__":
    sys.exit(main())
