"""Pictures by matplotlib, and plain records of pairs; neither library need be installed."""

import sys

import numpy
import pytest

import leakgauge


@pytest.fixture
def results(found, rng):
    """A result of every kind that is drawn."""
    include = rng.random(500) < 0.5
    return {
        "log": found,
        "function": leakgauge.audit(lambda x, n: x + rng.laplace(size=n), [0.0, 1.0], "dp(epsilon=0.1)", unit="row"),
        "run": leakgauge.audit_scores(include=include, scores=rng.normal(2 * include), design="one-run"),
        "table": leakgauge.confusion(80, 20, 30, 70),
        "logs": leakgauge.compare([leakgauge.simulate("laplace(scale=2, secrets=0..1)", 500, s) for s in (1, 2)], quick=True),
    }


class Axes:
    """Records what is drawn."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *given, **options: self.calls.append((name, given, options))

    def of(self, name):
        return [call for call in self.calls if call[0] == name]


def test_every_result_is_drawn_into_given_axes(results):
    for kind, result in results.items():
        axes = Axes()
        assert result.plot(axes) is axes, kind
        assert axes.of("set_xlabel"), kind


def test_the_picture_shows_the_figures_of_the_report(results):
    axes = Axes()
    results["function"].plot(axes)
    assert axes.of("axvline")[0][1] == (results["function"].epsilon.lower,)
    assert list(axes.of("barh")[0][1][1]) == [pair.epsilon for pair in results["function"].pairs]
    axes = Axes()
    results["table"].plot(axes)
    rate = results["table"].true_positive_rate
    assert axes.of("plot")[0][1] == ([rate.lower, rate.upper], [0, 0])
    axes = Axes()
    results["log"].plot(axes)
    curve = results["log"].worst_pair.trade_off["curve"]
    attack, limit = axes.of("plot")[1:3]
    assert tuple(attack[1][0]) == tuple(curve["type_1"])
    # The curve of the mechanism lies nowhere above the limit, which is therefore above the attack's.
    assert all(x <= y for x, y in zip(attack[1][1], limit[1][1], strict=True))


def test_matplotlib_draws_them(results):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    for kind, result in results.items():
        axes = result.plot()
        axes.figure.canvas.draw()
        assert axes.lines or axes.patches, kind
        assert result.plot(axes) is axes


def test_without_libraries_there_is_one_clear_error_and_plain_records(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(leakgauge.OptionError, match="matplotlib is not installed") as refused:
        found.plot()
    assert "pip install matplotlib" in refused.value.hint
    with pytest.raises(leakgauge.OptionError, match="pandas is not installed") as refused:
        found.pairs.to_pandas()
    assert "to_dicts()" in refused.value.hint
    with pytest.raises(leakgauge.OptionError, match="ax=: must be axes"):
        found.plot(ax=3)
    records = found.pairs.to_dicts()
    assert len(records) == len(found.pairs) == 6
    assert records[0]["secret_1"] == found.pairs[0].secrets[0]
    assert records[0]["total_variation_lower"] == found.pairs[0].total_variation.lower


def test_records_are_the_rows_of_the_frame(found):
    pandas = pytest.importorskip("pandas")
    frame = found.pairs.to_pandas()
    pandas.testing.assert_frame_equal(frame, pandas.DataFrame(found.pairs.to_dicts()))
    assert numpy.isclose(frame["total_variation"].max(), found.total_variation.point)
