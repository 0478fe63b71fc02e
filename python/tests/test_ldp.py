"""Protocols of local differential privacy: their samplers, and what audits say of correct and of broken ones."""

import math
import pathlib
import re
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import ldp  # noqa: E402

NAMES = {protocol.name: protocol for protocol in ldp.PROTOCOLS}
N = 40_000


def close(share, expected, n=N):
    """Within five standard errors."""
    return abs(share - expected) <= 5 * math.sqrt(max(expected * (1 - expected), 1e-9) / n)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_probabilities_have_the_epsilon_that_they_are_for(epsilon):
    for k in (2, 5, 20):
        kept, other = ldp.odds_kept(epsilon, k)
        assert math.log(kept / other) == pytest.approx(epsilon) and kept + (k - 1) * other == pytest.approx(1)
    for bits in (ldp.sue_bits, ldp.oue_bits):
        assert ldp.bits_epsilon(*bits(epsilon)) == pytest.approx(epsilon)
        for is_symmetric in (True, False):
            first = epsilon / 2
            both = ldp.chained(bits(epsilon), ldp.second_bits(bits(epsilon), first, is_symmetric))
            assert ldp.bits_epsilon(*both) == pytest.approx(first)
    for k in (2, 5):
        # Both randomizations as matrices.
        one, two = ldp.odds_kept(epsilon, k)[0], ldp.second_grr(epsilon, epsilon / 2, k)
        matrices = [np.full((k, k), (1 - p) / (k - 1)) + np.eye(k) * (p - (1 - p) / (k - 1)) for p in (one, two)]
        product = matrices[0] @ matrices[1]
        assert math.log(product[0, 0] / product[0, 1]) == pytest.approx(epsilon / 2)


def test_categories_come_with_their_probabilities():
    rng = np.random.default_rng(0)
    found = np.bincount(ldp.grr(1.0, 5, rng)(3, N), minlength=5) / N
    kept, other = ldp.odds_kept(1.0, 5)
    assert all(close(share, kept if at == 3 else other) for at, share in enumerate(found))


@pytest.mark.parametrize("name", ["SUE", "OUE"])
def test_bits_come_with_their_probabilities(name):
    p, q = {"SUE": ldp.sue_bits, "OUE": ldp.oue_bits}[name](1.0)
    shares = NAMES[name].reports(1.0, 6)(2, N).mean(axis=0)
    assert all(close(share, p if at == 2 else q) for at, share in enumerate(shares))


def test_subsets_hold_the_value_with_the_odds_of_the_paper():
    k, epsilon = 12, 1.0
    size = ldp.subset_size(epsilon, k)
    found = NAMES["SS"].reports(epsilon, k)(4, N)
    assert found.shape == (N, size) and size == 3 and all(len(set(row)) == size for row in found[:100])
    held = (found == 4).any(axis=1).mean()
    assert close(held, size * math.e / (size * math.e + k - size))
    # Every other category is as likely as any.
    counts = np.bincount(found.ravel(), minlength=k) / N
    expected = (size - held) / (k - 1)
    assert all(close(share, expected) for at, share in enumerate(counts) if at != 4)


@pytest.mark.parametrize(("name", "g"), [("BLH", 2), ("OLH", 4)])
def test_hashed_reports_support_the_value(name, g):
    found = NAMES[name].reports(1.0, 6)(1, N).mean(axis=0)
    assert all(close(share, ldp.odds_kept(1.0, g)[0] if at == 1 else 1 / g) for at, share in enumerate(found))
    assert ldp.cells_of_olh(1.0) == 4


def test_histograms_are_noisy_and_cut_at_the_threshold():
    found = NAMES["SHE"].reports(1.0, 5)(3, N)
    # Laplace noise of scale 2 has a standard deviation of 2.83.
    assert np.abs(found.mean(axis=0) - np.eye(5)[3]).max() < 5 * 2.83 / math.sqrt(N)
    assert found.std(axis=0) == pytest.approx(math.sqrt(8), rel=0.05)
    threshold = ldp.the_threshold(1.0)
    assert 0.5 < threshold < 1
    shares = NAMES["THE"].reports(1.0, 5)(3, N).mean(axis=0)
    p, q = 1 - math.exp((threshold - 1) / 2) / 2, math.exp(-threshold / 2) / 2
    assert all(close(share, p if at == 3 else q) for at, share in enumerate(shares))


@pytest.mark.parametrize("name", [name for name, protocol in NAMES.items() if protocol.lasting])
def test_one_report_of_many_has_the_epsilon_of_the_first(name):
    k, g = 4, {"BiLOLOHA": 2, "OLOLOHA": ldp.cells_of_olh(1.0)}.get(name)
    both = NAMES[name].lasting(2.0, k, np.random.default_rng(1))(1, N)
    for found in (NAMES[name].reports(1.0, k)(1, N), both):
        if name == "L-GRR":
            first = found if found.ndim == 1 else found[:, 0]
            shares = np.bincount(first, minlength=k) / N
            measured = math.log(shares[1] / np.delete(shares, 1).mean())
        else:
            shares = found[:, :k].mean(axis=0)
            other = np.delete(shares, 1).mean()
            if g is None:
                measured = ldp.bits_epsilon(shares[1], other)
            else:
                assert close(other, 1 / g)
                measured = math.log(shares[1] * (g - 1) / (1 - shares[1]))
        assert measured == pytest.approx(1.0, abs=0.08)
    # The two reports of one user tell of each other.
    one, two = (both[:, 0], both[:, 1]) if name == "L-GRR" else (both[:, 1], both[:, k + 1])
    assert np.corrcoef(one, two)[0, 1] > 0.02


def test_flipped_bits_are_asked_for_d_buckets():
    found = NAMES["dBitFlipPM"].reports(1.0, 8)(5, N)
    assert ((found != 2).sum(axis=1) == 4).all()
    p, q = ldp.sue_bits(1.0)
    for at in range(8):
        asked = found[found[:, at] != 2, at]
        assert close(asked.mean(), p if at == 5 else q, len(asked))


@pytest.mark.parametrize("value", [-1.0, 0.3, 1.0])
def test_numbers_have_the_right_mean_and_density(value):
    rng = np.random.default_rng(2)
    rounded = ldp.stochastic_rounding(1.0, rng)(value, N)
    assert len(set(rounded)) == 2 and abs(rounded.mean() - value) < 5 * rounded.std() / math.sqrt(N)
    near = ldp.piecewise(1.0, rng)(value, N)
    assert abs(near.mean() - value) < 5 * near.std() / math.sqrt(N)
    end = (math.exp(0.5) + 1) / (math.exp(0.5) - 1)
    assert np.abs(near).max() <= end
    low = (end + 1) / 2 * value - (end - 1) / 2
    inside = (near >= low) & (near <= low + end - 1)
    # The density inside is e^ε times that outside.
    density = inside.mean() / (end - 1) / ((1 - inside.mean()) / (end + 1))
    assert density == pytest.approx(math.e, rel=0.06)


K = 5


@pytest.mark.parametrize("name", NAMES)
def test_no_correct_protocol_is_found_to_break_its_epsilon(name):
    protocol = NAMES[name]
    r = ldp.audited(protocol.reports(1.0, K), protocol.inputs(K), 1.0, max_samples=3_000)
    assert r.verdict == "inconclusive", r


@pytest.mark.parametrize("name", [name for name, protocol in NAMES.items() if protocol.lasting])
def test_two_reports_of_a_user_keep_the_lasting_epsilon(name):
    reports = NAMES[name].lasting(1.0, K, np.random.default_rng(1))
    r = ldp.audited(reports, [0, K - 1], 1.0, max_samples=2_000)
    assert r.verdict == "inconclusive", r


@pytest.mark.parametrize("name", NAMES)
def test_twice_the_epsilon_is_found(name):
    protocol = NAMES[name]
    r = ldp.audited(protocol.reports(2.0, K), protocol.inputs(K), 1.0, max_samples=20_000)
    assert r.verdict == "violated", r


def test_the_page_has_the_table_of_the_script():
    page = (HERE.parent.parent / "docs" / "local-privacy.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| [0-9.]+ \| ([a-z]+) \| [0-9,]+ \| ([a-z]+) \|$", page, re.MULTILINE)
    assert [row[0] for row in rows] == list(NAMES)
    assert all(row[1:] == ("inconclusive", "violated") for row in rows)
