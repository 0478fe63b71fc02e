"""Logs that tests share."""

import numpy
import pytest

import leakgauge

MECHANISM = "laplace(scale=2, secrets=0..3)"


@pytest.fixture(scope="session")
def log():
    """3,000 rows of a Laplace mechanism over four secrets."""
    return leakgauge.simulate(MECHANISM, 3_000, seed=1)


@pytest.fixture(scope="session")
def found(log):
    """The audit of a log that breaks a claim."""
    return leakgauge.audit_log(log, claims=["dp(epsilon=0.5)", "advantage(0.9)"], budget=1)


@pytest.fixture
def rng():
    return numpy.random.Generator(numpy.random.Philox(7))
