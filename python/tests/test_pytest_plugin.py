"""The pytest plugin, in sessions of its own."""

import re

import pytest

pytest_plugins = ["pytester"]

MECHANISMS = """
import numpy as np
import leakgauge as lg

rng = np.random.default_rng(1)

def correct(x, n):
    return x + rng.laplace(scale=1.0, size=n)

def broken(x, n):
    return x + rng.laplace(scale=0.5, size=n)
"""


@pytest.fixture(autouse=True)
def session_of_its_own(monkeypatch):
    """Workers of the session that runs these tests are none of the sessions in them."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)


def outcome(pytester, tests, *arguments):
    pytester.makepyfile(MECHANISMS + tests)
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def test_a_broken_mechanism_fails_and_a_correct_one_passes(pytester):
    found = outcome(
        pytester,
        """
def test_correct(leakgauge):
    leakgauge.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", detects="epsilon=1.5", max_samples=30_000)

def test_broken(leakgauge):
    leakgauge.assert_private(broken, [0.0, 1.0], "dp(epsilon=1)")

def test_plain():
    lg.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", max_samples=2_000)
""",
    )
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(["*PrivacyViolated: leakgauge audit of a function: violated*"])
    found.stdout.fnmatch_lines(["leakgauge: 3 audits, * samples; *at most 1e-05"])


def test_a_test_that_could_not_find_the_leak_fails_as_too_weak(pytester):
    found = outcome(
        pytester,
        """
def test_weak(leakgauge):
    leakgauge.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", detects="epsilon=1.1", max_samples=5_000)

def test_nonsense(leakgauge):
    leakgauge.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", detects="much")

def test_seeded(leakgauge):
    def seeded(x, n):
        return x + np.random.default_rng(0).laplace(size=n)
    leakgauge.assert_private(seeded, [0.0, 1.0], "dp(epsilon=3)", max_samples=2_000)
""",
    )
    found.assert_outcomes(failed=3)
    found.stdout.fnmatch_lines(["*TooWeak: too weak: to find epsilon = 1.1 with probability 0.9 takes about *"])
    found.stdout.fnmatch_lines(["*OptionError: detects='much': must be*"])
    # The helpers' own lines are left out of the traceback.
    assert not any(line in found.stdout.str() for line in ("raise TooWeak", "raise OptionError", "_errors.py"))
    found.stdout.fnmatch_lines(["*TooWeak: Two calls with the same input gave the same outputs*"])


def test_one_rate_is_shared_by_the_session(pytester):
    found = outcome(
        pytester,
        """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_shared(leakgauge, number):
    for _ in range(2):
        leakgauge.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", max_samples=100)

def test_other():
    lg.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", max_samples=100)
    lg.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", max_samples=100)
""",
        "--leakgauge-alpha=0.06",
        "--junit-xml=found.xml",
    )
    found.assert_outcomes(passed=4)
    xml = (pytester.path / "found.xml").read_text()
    alphas = [float(value) for value in re.findall(r'name="leakgauge.alpha" value="([^"]+)"', xml)]
    assert sorted(alphas) == pytest.approx(sorted([0.005, 0.01 / 6] * 3 + [0.015, 0.005]))
    assert sum(alphas) <= 0.06
    assert xml.count('name="leakgauge.verdict" value="inconclusive"') == 8
    assert all(int(samples) <= 100 for samples in re.findall(r'name="leakgauge.samples" value="([^"]+)"', xml))
    found.stdout.fnmatch_lines(["*at most 0.06"])


def test_a_rate_out_of_range_is_refused(pytester):
    found = outcome(pytester, "def test_nothing(): pass\n", "--leakgauge-alpha=2")
    assert found.ret != 0
    found.stderr.fnmatch_lines(["*leakgauge_alpha must be above 0*"])


def test_the_last_line_counts_the_audits_of_all_workers(pytester):
    pytest.importorskip("xdist")
    found = outcome(
        pytester,
        """
import pytest

@pytest.mark.parametrize("number", range(4))
def test_shared(leakgauge, number):
    leakgauge.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", max_samples=100)

def test_own():
    lg.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", max_samples=100, alpha=0.01)
""",
        "-n2",
        "--leakgauge-alpha=0.06",
    )
    found.assert_outcomes(passed=5)
    found.stdout.fnmatch_lines(["leakgauge: 5 audits, * samples; *at most 0.06 (beside 1 with an alpha of their own)"])


def test_the_value_of_detects_is_refused_without_our_lines(pytester):
    found = outcome(
        pytester,
        """
def test_nonsense(leakgauge):
    leakgauge.assert_private(correct, [0.0, 1.0], "dp(epsilon=1)", detects="much")
""",
    )
    assert "_assertions.py" not in found.stdout.str()


def test_a_leak_can_be_given_as_a_mu(pytester):
    found = outcome(
        pytester,
        """
def gaussian(x, n):
    return x + rng.normal(size=n)

def test_strong(leakgauge):
    leakgauge.assert_private(gaussian, [0.0, 1.0], "gdp(mu=1)", detects="mu=2", max_samples=6_000)

def test_weak(leakgauge):
    leakgauge.assert_private(gaussian, [0.0, 1.0], "gdp(mu=1)", detects="mu=1.1", max_samples=500)

def test_allowed(leakgauge):
    leakgauge.assert_private(gaussian, [0.0, 1.0], "gdp(mu=1)", detects="mu=0.9", max_samples=500)

def test_short_of_it(leakgauge):
    leakgauge.assert_private(gaussian, [0.0, 1.0], "gdp(mu=1)", detects="mu=1.5", max_samples=1_200)
""",
    )
    found.assert_outcomes(passed=1, failed=3)
    found.stdout.fnmatch_lines(["*TooWeak: too weak: Gaussian noise of mu = 1.1 was missed by audits of 1,000 samples*"])
    found.stdout.fnmatch_lines(["*TooWeak: too weak: to find mu = 1.5 with probability 0.9 takes about *"])
