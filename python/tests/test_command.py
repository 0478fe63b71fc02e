"""The command line in the package is the command line."""

import html
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import sysconfig
import time

import pytest

import leakgauge

COMMAND = [sys.executable, "-m", "leakgauge"]


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, **options)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(run("simulate", "randomized-response(epsilon=3, secrets=3)", "--rows", "3000").stdout)
    return str(path)


def test_exit_codes_come_through(log):
    for claim, code in (("randomized-response(epsilon=1)", 1), ("advantage(0.95)", 0), ("ldp(epsilon=9)", 3)):
        assert run("audit", log, "--claim", claim).returncode == code, claim
    refused = run("audit", log, "--claim", "dp(eps=1)")
    assert refused.returncode == 2 and refused.stderr.startswith("error: dp(eps=1)") and not refused.stdout
    wrong = run("audit", log, "--clam", "x")
    assert wrong.returncode == 2 and "--claim" in wrong.stderr
    unknown = run("audit", log, "--claim", "advantage(0.1)", "--observe", "q")
    assert "--observe q" in unknown.stderr


def test_help_and_version_go_to_standard_output():
    assert run("--version").stdout.strip() == f"leakgauge {leakgauge.__version__}"
    helped = run("--help")
    assert helped.returncode == 0 and "Usage: leakgauge" in helped.stdout


def test_the_script_is_the_same_program(log):
    script = pathlib.Path(sysconfig.get_path("scripts")) / "leakgauge"
    command = ["audit", log, "--claim", "advantage(0.1)", "--format", "json"]
    done = subprocess.run([script, *command], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == run(*command).stdout


def test_pages_name_the_command_and_not_the_interpreter(log, tmp_path):
    page = tmp_path / "page.html"
    assert run("estimate", log, "--html", str(page)).returncode == 0
    text = html.unescape(page.read_text())
    assert f"leakgauge estimate {log} --html" in text and "-m leakgauge" not in text


def test_a_closed_pipe_is_no_error():
    command = [*COMMAND, "simulate", "laplace(scale=2, secrets=0..9)", "--rows", "2000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"secret,observation\n"
        process.stdout.close()
        assert process.wait(30) == 0 and process.stderr.read() == b""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_ends_the_command_at_once():
    command = [*COMMAND, "simulate", "laplace(scale=2, secrets=0..9)", "--rows", "2000000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdout.close()
        assert process.wait(30) == 128 + signal.SIGINT


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_ends_a_call(tmp_path):
    # A log of 20,000 different rows, tried for minutes.
    code = (
        "import leakgauge, sys\n"
        "d = leakgauge.simulate('laplace(scale=2, secrets=0..40)', 40_000)\n"
        "d |= {f'x{k}': d['observation'] ** k for k in range(2, 20)}\n"
        "print('ready', flush=True)\n"
        "try: leakgauge.audit_log(d, budget='600s', scorer='forest')\n"
        "except KeyboardInterrupt: print('interrupted', flush=True); sys.exit(7)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begun < 2
        assert process.wait(30) == 7


def test_it_can_be_found_by_name():
    assert shutil.which("leakgauge", path=sysconfig.get_path("scripts"))
