"""The command line: `python -m leakgauge`, and the script `leakgauge`."""

from __future__ import annotations

import signal
import sys

from ._native import main as _main


def main() -> int:
    """Runs the command line and returns its exit code."""
    # The interpreter only notes an interrupt, for when native code returns. The command line is to end at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _main(["leakgauge", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
