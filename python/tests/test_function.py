"""Audits of functions."""

import json
import os
import signal
import time
from decimal import Decimal

import leakgauge
import numpy as np
import pytest
from leakgauge import _calls


def laplace(scale, seed=1):
    rng = np.random.default_rng(seed)
    return lambda x, n: x + rng.laplace(scale=scale, size=n)


def test_half_the_noise_is_violated_and_the_result_says_it():
    r = leakgauge.audit(laplace(0.5), [0.0, 1.0], "dp(epsilon=1)")
    assert (r.verdict, r.stop, r.claims[0].claim) == ("violated", "violated", "dp(epsilon=1)")
    assert r.samples < 1_000 and 1.0 <= r.epsilon.lower < 2.0 and r.claims[0].p_value <= 0.05
    assert r.worst_pair.inputs == ("0.0", "1.0") and "threshold" in r.worst_pair.attacker
    assert r.to_dict()["samples"] == r.samples and r.warnings == ()
    assert repr(r).startswith("leakgauge audit of a function: violated (")
    assert "<table>" in r._repr_html_() and r.to_html().startswith("<!DOCTYPE html>")
    with pytest.raises(AttributeError):
        r.samples = 1


def test_correct_noise_is_not_decided_and_its_limit_is_below_the_truth():
    r = leakgauge.audit(laplace(1.0), [0.0, 1.0], ["dp(epsilon=1)", "ldp(epsilon=2)"], max_samples=50_000)
    assert r.verdict == "inconclusive" and r.samples <= 50_000
    assert 0.7 < r.epsilon.lower < 1.0
    assert any("low bits" in line.lower() for line in r.assumptions)


def test_the_same_outputs_and_seed_give_the_same_bytes():
    one, other = (leakgauge.audit(laplace(0.7), [0, 1], "dp(epsilon=1)", seed=3).to_json() for _ in range(2))
    assert one == other


def _response(rng):
    return lambda x: ("no", "yes")[x ^ int(rng.random() < 0.25)]


def test_labels_hold_where_it_can_be_proved():
    r = leakgauge.audit(_response(np.random.default_rng(2)), [0, 1], "advantage(0.6)")
    assert (r.verdict, r.stop) == ("holds", "holds") and r.samples < 20_000


@pytest.mark.parametrize(
    "leak",
    [
        lambda x, rng: [rng.random() for _ in range(3 + x)],
        lambda x, rng: tuple("ab"[x] for _ in range(2)) if rng.random() < 0.9 else ("c",),
        lambda x, rng: {"size": int(rng.integers(3)) + 2 * x, "kind": "a"},
        lambda x, rng: {"size": 1, "extra": 2} if x else {"size": 1},
        lambda x, rng: None if rng.random() < 0.2 + 0.6 * x else "page",
        lambda x, rng: rng.random() + 0.5 * x if rng.random() < 0.9 else float("nan"),
        lambda x, rng: bool(rng.random() < 0.2 + 0.6 * x),
        lambda x, rng: b"\x00\x01"[: 1 + x],
    ],
    ids=["length", "words", "dict", "keys", "none", "nan", "bool", "bytes"],
)
def test_leaks_are_found_in_outputs_of_any_form(leak):
    rng = np.random.default_rng(4)
    r = leakgauge.audit(lambda x: leak(x, rng), [0, 1], "advantage(0.1)", max_samples=4_000)
    assert r.verdict == "violated", r


def test_vectors_are_arrays_with_a_row_an_output():
    rng = np.random.default_rng(5)
    r = leakgauge.audit(
        lambda x, n: rng.normal(size=(n, 4)) + x, [0.0, 1.0], "gdp(mu=0.5)", max_samples=20_000
    )
    assert r.verdict == "violated" and any("learned" in attacker for attacker in r.attackers)


def test_an_exception_names_the_input_that_caused_it():
    rng = np.random.default_rng(0)

    def fn(x, n):
        if x == "b":
            raise ZeroDivisionError("inside")
        return rng.random(n)

    with pytest.raises(ZeroDivisionError) as raised:
        leakgauge.audit(fn, ["a", "b"], "dp(epsilon=1)")
    assert "x = inputs[1] = 'b'" in raised.value.__notes__[0]


@pytest.mark.parametrize(
    ("fn", "options", "said"),
    [
        (lambda x, n: np.zeros(n + 1), {}, "outputs for inputs"),
        (lambda x, n: 1.0, {}, "say vectorized=False"),
        (lambda x: object(), {}, "which is no number, text, list, dict or None"),
        (lambda x, n: np.zeros((n, 0)), {}, "vectors of length 0"),
        (lambda: 1, {}, "takes 0 arguments"),
        (lambda *xs: 1, {}, "vectorized="),
        (lambda x: 1, {"claims": ()}, "nothing to decide"),
        (lambda x: 1, {"claims": "dp(epsilon=x)"}, "epsilon"),
        (lambda x: 1, {"claims": "attack-advantage(0.1)"}, "attack"),
        (lambda x: 1, {"inputs": [1]}, "inputs="),
        (lambda x: 1, {"alpha": 0.9}, "alpha=0.9"),
        (lambda x: 1, {"max_samples": 3}, "max_samples=3"),
        (lambda x: 1, {"seconds": -1}, "seconds="),
        (lambda x: 1, {"pairs": [(0, 5)]}, "pairs="),
        (lambda x: 1, {"workers": 0}, "workers="),
        (lambda x: x, {"workers": 2}, "cannot be sent to another process"),
    ],
)
def test_what_cannot_be_audited_is_said(fn, options, said):
    given = {"inputs": [0, 1], "claims": "dp(epsilon=1)", **options}
    with pytest.raises(leakgauge.Error, match=said.replace("(", r"\(")):
        leakgauge.audit(fn, **given)


def test_a_function_whose_outputs_change_their_form_is_refused():
    calls = []

    def fn(x, n):
        calls.append(n)
        return np.zeros((n, 2)) if len(calls) < 5 else np.zeros((n, 3))

    with pytest.raises(leakgauge.Error, match="after ones of length 2"):
        leakgauge.audit(fn, [0, 1], "dp(epsilon=1)")


def test_numbers_and_words_are_both_looked_at_and_that_is_said():
    rng = np.random.default_rng(6)
    r = leakgauge.audit(
        lambda x: "timeout" if rng.random() < 0.1 else rng.random(), [0, 1], "advantage(0.5)", max_samples=2_000
    )
    assert "mixed-outputs" in [warning.code for warning in r.warnings]


def test_constant_functions_and_generators_seeded_afresh_are_told():
    def codes(fn):
        r = leakgauge.audit(fn, [0.0, 1.0], "dp(epsilon=3)", max_samples=2_000)
        return [warning.code for warning in r.warnings]

    assert codes(lambda x: 7) == ["all-equal"]
    assert codes(lambda x: x) == ["constant-outputs"]
    assert codes(lambda x, n: x + np.random.default_rng(0).laplace(size=n)) == ["seeded-afresh"]


def test_outputs_that_share_noise_within_a_call_are_no_samples_of_their_own():
    def verdicts(unit):
        found = []
        for seed in range(100):
            rng = np.random.default_rng(seed)
            # The input is ignored, so that every claim is true.
            shared = lambda x, n: rng.laplace() + 0.1 * rng.normal(size=n)  # noqa: E731
            found.append(leakgauge.audit(shared, [0, 1], "dp(epsilon=0.5)", max_samples=2_000, seed=seed, unit=unit))
        return found

    # 5 of 100 at most are expected; more than 10 have probability 0.011 if it were 5 %. Bets are below it: 0 to 2.
    assert sum(r.verdict == "violated" for r in verdicts("call")) <= 10
    rows = verdicts("row")
    assert {r.verdict for r in rows} == {"inconclusive"} and {r.stop for r in rows} == {"doubt"}
    assert {r.warnings[0].code for r in rows} == {"dependent-outputs"} and 'unit="row"' in rows[0].claims[0].reason


def test_a_shared_scale_is_seen_and_independent_rows_are_not_doubted():
    rng = np.random.default_rng(10)
    scaled = leakgauge.audit(lambda x, n: rng.exponential() * rng.normal(size=n), [0, 1], "dp(1)", unit="row")
    assert scaled.stop == "doubt" and scaled.epsilon.lower is None and scaled.claims[0].p_value == 1.0
    forms = [
        lambda n: rng.normal(size=n),
        lambda n: rng.normal(size=(n, 3)),
        lambda n: (rng.random(n) < 0.001).astype(int),
        lambda n: ["ab"[at] for at in rng.integers(2, size=n)],
    ]
    # A doubt has probability 1e-4 at most in each of these.
    for form in forms:
        for _ in range(25):
            r = leakgauge.audit(lambda x, n: form(n), [0, 1], "dp(1)", unit="row", max_samples=20)
            assert r.stop != "doubt", r


def test_real_leaks_are_found_by_calls_and_by_rows():
    for unit in ("call", "row"):
        for seed in range(10):
            r = leakgauge.audit(laplace(0.5, seed), [0.0, 1.0], "dp(epsilon=1)", unit=unit, seed=seed)
            assert r.verdict == "violated" and r.warnings == () and unit in r.assumptions[0]


def test_calls_ask_for_one_output_and_rows_for_many():
    rng = np.random.default_rng(11)
    asked = []

    def fn(x, n):
        asked.append(n)
        # A function that squeezes gives a plain number for one output.
        return np.squeeze(rng.laplace(size=n))

    leakgauge.audit(fn, [0, 1], "dp(1)", max_samples=1_000)
    assert asked[:4] == [32] * 4 and set(asked[4:]) == {1}
    asked.clear()
    leakgauge.audit(fn, [0, 1], "dp(1)", max_samples=1_000, unit="row")
    assert max(asked[40:]) > 4 and len(asked) < 500
    with pytest.raises(leakgauge.OptionError, match="unit=: must be"):
        leakgauge.audit(fn, [0, 1], "dp(1)", unit="rows")


def _seeded(x, n):
    return x + np.random.default_rng(0).laplace(size=n)


def _cached_response(x, n):
    return np.random.default_rng(3 + x).random(n) < 0.99


@pytest.mark.parametrize("fn", [_seeded, _cached_response])
@pytest.mark.parametrize("unit", ["call", "row"])
def test_a_generator_that_is_seeded_at_every_call_is_not_judged(fn, unit):
    r = leakgauge.audit(fn, [0, 1], ["dp(epsilon=1)", "advantage(0.1)"], unit=unit)
    assert (r.verdict, r.stop, r.samples) == ("inconclusive", "doubt", 0)
    assert r.warnings[0].code == "seeded-afresh" and "seeded afresh" in r.claims[1].reason
    with pytest.raises(leakgauge.DataError, match="seeded afresh"):
        leakgauge.audit(fn, [0, 1], fixed=True, unit=unit, max_samples=100)


def test_a_function_without_randomness_is_judged():
    for fn in (lambda x: x, lambda x, n: np.full(n, x), lambda x: [x, 1 - x]):
        r = leakgauge.audit(fn, [0, 1], "dp(epsilon=3)", max_samples=2_000)
        assert r.verdict == "violated" and [warning.code for warning in r.warnings] == ["constant-outputs"]


def test_a_call_that_overruns_is_waited_for_and_discarded():
    calls = []

    def fn(x):
        # What a callback or a retry loop does with exceptions that are not its own.
        try:
            calls.append(x)
            time.sleep(0.3 if len(calls) > 100 else 0)
        except Exception:
            return "caught"
        return len(calls) % 7

    r = leakgauge.audit(fn, [0, 1], "dp(epsilon=1)", seconds=0.2)
    assert (r.stop, r.verdict) == ("time", "inconclusive") and len(calls) == 101 and r.samples <= 100
    assert "mixed-outputs" not in [warning.code for warning in r.warnings]
    with pytest.raises(leakgauge.Error, match="seconds="):
        leakgauge.audit(fn, [0, 1], fixed=True, max_samples=40, seconds=0.2)


def test_the_time_is_kept_without_signals_and_timers():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 60)
        rng = np.random.default_rng(12)
        r = leakgauge.audit(lambda x: x + rng.laplace(), [0, 1], "dp(epsilon=1)", seconds=0.2)
        assert r.stop == "time" and r.samples > 50
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60 and not rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def timing_out(x):
    raise TimeoutError("of the function")


def test_a_timeout_of_the_function_is_its_own():
    with pytest.raises(TimeoutError, match="of the function"):
        leakgauge.audit(timing_out, [0, 1], "dp(epsilon=1)", workers=2, seconds=30)


def test_an_interrupt_returns_what_is_known():
    rng = np.random.default_rng(7)
    calls = []

    def fn(x, n):
        calls.append(n)
        if len(calls) > 200:
            raise KeyboardInterrupt
        return x + rng.laplace(size=n)

    r = leakgauge.audit(fn, [0.0, 1.0], "dp(epsilon=1)")
    assert r.stop == "interrupted" and r.samples > 50


def slow(x):
    return os.getpid(), float(x + np.random.laplace(scale=0.3))


GENERATOR = np.random.default_rng(3)


def shared(x):
    return float(GENERATOR.random())


def second(x):
    time.sleep(60)


def failing(x):
    raise ValueError(f"no {x}")


def test_workers_share_the_calls_and_have_randomness_of_their_own():
    r = leakgauge.audit(slow, [0.0, 1.0], "dp(epsilon=1)", workers=2, max_samples=4_000)
    assert r.verdict == "violated" and r.warnings == ()
    with pytest.raises(ValueError, match="no 0") as raised:
        leakgauge.audit(failing, [0, 0.5], "dp(epsilon=1)", workers=2)
    assert "inputs[" in raised.value.__notes__[0]
    # A generator of the module goes on from another state in every process.
    draws = leakgauge.audit(shared, [0, 1], fixed=True, max_samples=400, workers=2)
    assert draws.input["rows_used"] == 400
    caller = _calls.Caller(shared, [0, 1], False, 2)
    first, others = caller.draw([(0, 8), (0, 8)], None)
    caller.close()
    assert not set(first) & set(others)


def test_workers_end_when_the_time_is_up():
    begun = time.monotonic()
    r = leakgauge.audit(second, [0, 1], "dp(epsilon=1)", workers=2, seconds=0.5)
    assert time.monotonic() - begun < 10 and r.stop == "time"


def test_a_fixed_number_of_samples_is_audited_as_a_log():
    r = leakgauge.audit(laplace(0.5), [0.0, 1.0], "dp(epsilon=1)", fixed=True, max_samples=4_000)
    assert r.verdict == "violated" and r.input["rows_used"] == 4_000 and r.epsilon.lower > 1.5
    # The noise is a sum in floating point that nobody rounded.
    assert [warning.code for warning in r.warnings] == ["last-bits"]
    words = leakgauge.audit(_response(np.random.default_rng(8)), [0, 1], fixed=True, max_samples=2_000)
    assert words.verdict is None and 0.4 < words.total_variation.point < 0.6
    lists = leakgauge.audit(lambda x: [1] * (x + 1), [0, 1], fixed=True, max_samples=200)
    assert lists.total_variation.lower > 0.8


def test_low_bits_are_looked_at_where_it_is_asked_for():
    r = leakgauge.audit(laplace(1.0), [0.0, 1.0], "dp(epsilon=1)", bits=True, max_samples=20_000)
    assert r.verdict == "violated" and "lowest bit" in r.worst_pair.attacker


def test_the_power_of_an_audit_is_stated():
    r = leakgauge.audit(laplace(1.0), [0.0, 1.0], "dp(epsilon=1)", max_samples=20_000, unit="row")
    # 90 % of audits of Laplace noise at ε = 2, 1.5 and 1.25 found it within 298, 1,092 and 7,424 samples, of 100 each.
    far, near, nearest = (r.samples_to_find(epsilon) for epsilon in (2.0, 1.5, 1.25))
    assert 250 < far < 500 and 900 < near < 2_200 and 6_000 < nearest < 15_000, (far, near, nearest)
    assert r.samples_to_find(0.9) is None
    with pytest.raises(leakgauge.Error, match="power="):
        r.samples_to_find(2.0, power=0.1)


def test_neighbors_are_the_known_patterns():
    patterns = leakgauge.neighbors(4)
    assert len(patterns) == 8 and len(patterns.inputs) == 10
    for a, b in patterns:
        assert np.abs(a - b).max() == 1.0
    assert patterns.names[0] == "one above" and "X shape" in patterns.names
    assert all((b >= a).all() for a, b in leakgauge.neighbors(4, change="add"))
    assert all((b <= a).all() for a, b in leakgauge.neighbors(4, change="remove"))
    assert len(leakgauge.neighbors(1)) == 2
    databases = leakgauge.neighbors(strategy=lambda rng: ([1, 2], [1]), count=3)
    assert len(databases) == 3 and len(databases.inputs) == 2
    for wrong in ({}, {"length": 0}, {"length": 2, "change": "x"}, {"strategy": lambda rng: 1}):
        with pytest.raises(TypeError):
            leakgauge.neighbors(**wrong)


def test_the_budget_goes_to_the_pattern_that_looks_worst():
    rng = np.random.default_rng(9)

    # Report noisy max with the noise of a query that one row changes in one direction only, where rows replace.
    def noisy_max(answers):
        return int(np.argmax(answers + rng.laplace(scale=1.0, size=len(answers))))

    r = leakgauge.audit(noisy_max, leakgauge.neighbors(5), "dp(epsilon=1)", max_samples=100_000)
    assert r.verdict == "violated" and len(r.pairs) == 8
    assert r.worst_pair.judged > r.samples / len(r.pairs)


def test_frames_take_the_pairs():
    pyarrow = pytest.importorskip("pyarrow")
    pairs = leakgauge.neighbors(strategy=lambda rng: (0.0, rng.random()), count=3)
    r = leakgauge.audit(laplace(1.0), pairs, "dp(1)", max_samples=500)
    table = pyarrow.table(r.pairs)
    assert table.column_names == ["input_1", "input_2", "judged", "epsilon", "advantage"] and table.num_rows == 3
    assert table["judged"].to_pylist() == [pair.judged for pair in r.pairs]


def test_reports_are_json():
    r = leakgauge.audit(laplace(0.5), [0.0, 1.0], "dp(epsilon=1)")
    assert set(json.loads(r.to_json())) >= {"claims", "samples", "stop", "worst_pair", "epsilon", "warnings"}


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: 2**60 + x,
        lambda x: 2**70 + x,
        lambda x: Decimal(2) ** 80 + x,
        lambda x: np.longdouble(1) + x * np.finfo(np.longdouble).eps,
        lambda x: {"v": np.array([0.1234567890123, x * 1e-12])},
        lambda x: {"v": list(range(2000)) + [x]},
        lambda x: [np.arange(3000) + x * (np.arange(3000) == 1500)],
    ],
)
def test_outputs_that_differ_in_the_last_digit_do_not_hold(fn):
    r = leakgauge.audit(fn, [0, 1], "advantage(0.1)", max_samples=2_000)
    assert r.verdict == "violated"


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_of_arrays_do_not_hold(dtype):
    r = leakgauge.audit(lambda x, n: np.full(n, 2**60 + x, dtype), [0, 1], "advantage(0.1)", max_samples=2_000)
    assert r.verdict == "violated"
    with pytest.raises(leakgauge.DataError, match="more digits"):
        leakgauge.audit(lambda x, n: np.full((n, 2), 2**60 + x, dtype), [0, 1], "advantage(0.1)")


def test_values_of_keys_that_come_later_are_seen():
    calls = [0, 0]

    def fn(x):
        calls[x] += 1
        return {"a": 1, "b": x} if calls[x] > 50 else {"a": 1}

    assert leakgauge.audit(fn, [0, 1], "advantage(0.1)", max_samples=20_000).verdict != "holds"


def test_a_claim_is_not_proved_by_another():
    rng = np.random.default_rng(5)
    r = leakgauge.audit(
        lambda x: x if rng.random() < 0.5 else -1, [0, 1], ["advantage(1)", "dp(epsilon=301)"], max_samples=20_000
    )
    assert r.claims[1].verdict != "holds"


_one, _other = np.random.default_rng(), np.random.default_rng()


def _difference_of_exponentials(x):
    return x + _one.exponential() - _other.exponential()


def test_workers_do_not_cancel_the_noise():
    # Its epsilon is 1; without noise any is refuted.
    r = leakgauge.audit(_difference_of_exponentials, [0, 1], "dp(epsilon=2)", max_samples=4_000, workers=2)
    assert r.verdict == "inconclusive"


def test_the_samples_that_find_a_mu_do_find_it():
    rng = np.random.default_rng(11)

    def gaussian(mu):
        return lambda x, n: mu * x + rng.normal(size=n)

    r = leakgauge.audit(gaussian(1.0), [0, 1], "gdp(mu=1)", max_samples=300)
    needed = r.samples_to_find(mu=1.6)
    audits = [leakgauge.audit(gaussian(1.6), [0, 1], "gdp(mu=1)", seed=seed, max_samples=20_000) for seed in range(100, 130)]
    in_time = sum(audit.verdict == "violated" and audit.samples <= needed for audit in audits)
    # 27 are due; fewer than 22 come by chance in one of 200.
    assert in_time >= 22, (needed, sorted(audit.samples for audit in audits))
    assert needed < r.samples_to_find(mu=1.3) and r.samples_to_find(mu=1.0, most=2_000) is None
    for given in ({}, {"epsilon": 1.0, "mu": 1.0}, {"mu": -1.0}, {"mu": 2.0, "power": 2.0}):
        with pytest.raises(leakgauge.OptionError):
            r.samples_to_find(**given)
