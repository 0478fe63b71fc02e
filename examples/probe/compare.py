"""A program that `leakgauge probe` asks: how long does a comparison with a secret take?

    leakgauge probe --classes early,late,same -n 3000 -o log.csv -- python3 examples/probe/compare.py variable
    leakgauge audit log.csv --claim 'attack-advantage(0.1)'

A class says where the guess first differs from the secret. `variable` stops at the first difference, `constant` is
`hmac.compare_digest`.
"""

import hmac
import sys
import time

SECRET = bytes([7] * 64)
# Comparisons of one sample: one alone is shorter than the noise of the interpreter.
TIMES = 20


def variable(secret: bytes, guess: bytes) -> bool:
    for a, b in zip(secret, guess):
        if a != b:
            return False
    return True


def main() -> None:
    compare = {"variable": variable, "constant": hmac.compare_digest}[sys.argv[1]]
    for line in sys.stdin:
        # All guesses are made alike, so that only the comparison differs.
        guess = bytearray(SECRET + b"\0")
        guess[{"early": 0, "late": 60}.get(line.strip(), 64)] = 6
        guess = bytes(guess[:64])
        start = time.perf_counter_ns()
        for _ in range(TIMES):
            compare(SECRET, guess)
        # An answer that waits in a buffer looks like a program that hangs.
        print(time.perf_counter_ns() - start, flush=True)


main()
