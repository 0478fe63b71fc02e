"""Hooks into other tools, by small stand-ins that have the tools' interfaces."""

import json
import sys
from collections import namedtuple

import numpy as np
import pytest

import leakgauge
from leakgauge import membership

DIMENSION, COUNT, STEPS = 3_000, 2_000, 16


class Tensor:
    """What is used of a tensor of torch: it is copied by `clone`, and indexed by lists."""

    def __init__(self, values):
        self.values = np.asarray(values, dtype=float)

    @property
    def shape(self):
        return self.values.shape

    def reshape(self, *shape):
        return Tensor(self.values.reshape(*shape))

    def clone(self):
        return Tensor(self.values.copy())

    def tolist(self):
        return self.values.tolist()

    def __getitem__(self, positions):
        return Tensor(self.values[positions])

    def __setitem__(self, positions, values):
        self.values[positions] = values.values

    def __add__(self, other):
        return Tensor(self.values + (other.values if isinstance(other, Tensor) else other))


class Parameter:
    summed_grad = grad = None


class DPOptimizer:
    """The part of a step of Opacus that matters: clipped gradients are summed, noise is added, the sum is scaled."""

    def __init__(self, noise_multiplier, seed, batch=64):
        self.params = [Parameter(), Parameter()]
        self.shapes = [(DIMENSION // 2, 1), (DIMENSION // 2,)]
        self.noise_multiplier, self.max_grad_norm, self.batch = noise_multiplier, 0.5, batch
        self.rng = np.random.default_rng(seed)

    def clip_and_accumulate(self):
        for parameter, shape in zip(self.params, self.shapes):
            parameter.summed_grad = Tensor(self.rng.normal(0, 0.01, shape))

    def add_noise(self):
        for parameter in self.params:
            noise = self.rng.normal(0, self.noise_multiplier * self.max_grad_norm, parameter.summed_grad.shape)
            parameter.grad = parameter.summed_grad + noise

    def step(self):
        self.clip_and_accumulate()
        self.add_noise()
        for parameter in self.params:
            parameter.grad = Tensor(parameter.grad.values / self.batch)


def trained(noise, rate=1.0, norm=0.5, seed=0):
    optimizer = DPOptimizer(noise, seed)
    canaries = membership.GradientCanaries(COUNT, norm=norm, rate=rate, seed=seed)
    canaries.attach(optimizer)
    for _ in range(STEPS):
        optimizer.step()
    return canaries


# 16 steps with all records and noise of multiplier 4 have mu = sqrt(16) / 4.
CLAIM = "gdp(mu=1)"


def test_canaries_of_opacus_see_the_noise_that_there_is():
    canaries = trained(noise=4.0)
    shift = canaries.scores[canaries.include].mean() - canaries.scores[~canaries.include].mean()
    assert canaries.steps == STEPS and shift == pytest.approx(STEPS * 0.5, rel=0.2)  # more than four standard errors
    found = canaries.audit(CLAIM)
    assert found.verdict == "inconclusive" and found.canaries == COUNT
    assert canaries.audit("dp(epsilon=0.25, delta=1e-5)").verdict == "violated"
    broken = trained(noise=0.5).audit(CLAIM)
    assert broken.verdict == "violated", broken


def test_a_step_samples_canaries_as_records():
    canaries = trained(noise=1.0, rate=0.25)
    shift = canaries.scores[canaries.include].mean() - canaries.scores[~canaries.include].mean()
    assert shift == pytest.approx(STEPS * 0.5 * 0.25, rel=0.2)


def test_true_claims_of_dp_sgd_are_seldom_refuted():
    refuted = sum(trained(noise=4.0, seed=seed).audit(CLAIM, seed=1).verdict == "violated" for seed in range(20))
    assert refuted <= 3  # more than 3 of 20 at 5 %: 1.6 %


Transformation = namedtuple("Transformation", "init update")


class Immutable(np.ndarray):
    """What is used of an array of JAX: it refuses to be changed, and `at[…].add` gives another."""

    def __setitem__(self, positions, values):
        raise TypeError("JAX arrays are immutable")

    def __getitem__(self, positions):
        if isinstance(positions, list):
            raise TypeError("JAX takes no lists as indices")
        return np.asarray(self)[positions]

    @property
    def at(self):
        array = self

        class At:
            def __getitem__(self, positions):
                class Added:
                    def add(self, value):
                        changed = np.array(array)
                        changed[positions] += value
                        return changed.view(Immutable)

                return Added()

        return At()


def privatizer(noise, seed=0):
    rng = np.random.default_rng(seed)

    def privatize(sum_of_clipped_grads, noise_state, params=None):
        noisy = {
            # JAX gives dicts back in the order of their keys.
            key: (np.asarray(value) + rng.normal(0, noise, value.shape)).view(Immutable)
            for key, value in sorted(sum_of_clipped_grads.items())
        }
        return noisy, noise_state + 1

    return Transformation(lambda params: 0, privatize)


def test_canaries_of_jax_privacy_go_through_the_transformation():
    verdicts = {}
    for noise in (4.0, 0.5):
        canaries = membership.GradientCanaries(COUNT, norm=1.0, rate=1.0)
        wrapped = canaries.wrap(privatizer(noise))
        state = wrapped.init(None)
        for _ in range(STEPS):
            gradients = {"w": np.zeros((DIMENSION // 3, 2)).view(Immutable), "b": np.zeros(DIMENSION // 3).view(Immutable)}
            if state % 2:
                noisy, state = wrapped.update(gradients, state)
            else:
                noisy, state = wrapped.update(sum_of_clipped_grads=gradients, noise_state=state, params=None)
            assert set(noisy) == {"w", "b"} and noisy["w"].shape == (DIMENSION // 3, 2)
            assert not np.asarray(gradients["w"]).any()
        assert state == STEPS
        verdicts[noise] = canaries.audit(CLAIM).verdict
    assert verdicts == {4.0: "inconclusive", 0.5: "violated"}


def test_trees_of_gradients_are_rebuilt_as_they_were():
    Layer = namedtuple("Layer", "w b")
    canaries = membership.GradientCanaries(10, norm=2.0, rate=1.0)
    tree = {"a": [np.zeros(4), None], "b": Layer(np.zeros((2, 3)), (np.zeros(5),))}
    summed = canaries.add(tree)
    assert isinstance(summed["b"], Layer) and summed["a"][1] is None and isinstance(summed["b"].b, tuple)
    everything = np.concatenate([summed["a"][0], summed["b"].w.ravel(), summed["b"].b[0]])
    assert sorted(everything) == [0.0] * (15 - canaries.include.sum()) + [2.0] * canaries.include.sum()
    canaries.observe(summed)
    np.testing.assert_array_equal(canaries.scores, 2.0 * canaries.include)


def test_coins_have_nothing_to_do_with_generators_of_that_seed():
    canaries = membership.GradientCanaries(1_000, norm=1, rate=1, seed=5)
    other = np.random.default_rng(5).random(1_000) < 0.5
    assert 400 < (canaries.include == other).sum() < 600
    again = membership.GradientCanaries(1_000, norm=1, rate=1, seed=5)
    np.testing.assert_array_equal(canaries.include, again.include)


def lira_folder(folder, rng, models=32, records=60):
    keep = rng.random((models, records)) < 0.5
    scores = rng.normal(0, 3, records) + rng.normal(0, 1, keep.shape) + 2 * keep
    for at in range(models):
        model = folder / f"experiment-{at:02}_{models}"
        (model / "scores").mkdir(parents=True)
        np.save(model / "keep.npy", keep[at])
        np.save(model / "scores" / "0000000010.npy", np.zeros(records))
        np.save(model / "scores" / "0000000100.npy", scores[at])
    return keep, scores


def test_folders_of_lira_are_read_in_order(rng, tmp_path):
    keep, scores = lira_folder(tmp_path, rng)
    found = membership.lira(tmp_path, unit="row", budget=1)
    assert found == leakgauge.audit_scores(keep=keep, scores=scores, unit="row", budget=1)
    assert found.total_variation.lower > 0.4
    # The scores of an early epoch say nothing.
    assert membership.lira(tmp_path, epoch=10, unit="row", budget=1).total_variation.lower < 0.1
    with pytest.raises(leakgauge.FileError, match="epoch 7"):
        membership.lira(tmp_path, epoch=7)
    np.save(tmp_path / "experiment-03_32" / "keep.npy", keep[3, :-1])
    with pytest.raises(leakgauge.DataError, match="different shapes"):
        membership.lira(tmp_path)
    (tmp_path / "experiment-03_32" / "keep.npy").write_bytes(b"no array")
    with pytest.raises(leakgauge.FileError, match="keep.npy"):
        membership.lira(tmp_path)
    with pytest.raises(leakgauge.FileError, match="no folder with a keep.npy"):
        membership.lira(tmp_path / "experiment-00_32")


def test_results_of_leakpro_are_read_from_files_and_objects(rng, tmp_path):
    truth = rng.random(1_000) < 0.5
    signals = rng.normal(1.5 * truth)
    saved = {"result_type": "MIAResult", "signal_values": signals.tolist(), "true_labels": truth.astype(int).tolist()}
    (tmp_path / "attack.json").write_text(json.dumps(saved))
    found = membership.leakpro(tmp_path / "attack.json", budget=1)
    assert found == leakgauge.audit_scores(signals[truth], signals[~truth], budget=1)
    result = namedtuple("MIAResult", "true signal_values")(truth, signals)
    assert membership.leakpro(result, budget=1) == found
    one = membership.leakpro(tmp_path / "attack.json", design="one-run", claims="dp(epsilon=0.1, delta=1e-5)")
    assert one.verdict == "violated" and one.canaries == 1_000
    (tmp_path / "counts.json").write_text(json.dumps({**saved, "signal_values": None}))
    with pytest.raises(leakgauge.DataError, match="leakgauge.confusion"):
        membership.leakpro(tmp_path / "counts.json")
    (tmp_path / "text.json").write_text("{")
    with pytest.raises(leakgauge.DataError, match="is no JSON"):
        membership.leakpro(tmp_path / "text.json")
    with pytest.raises(leakgauge.FileError):
        membership.leakpro(tmp_path / "absent.json")


class Classifier:
    """Three classes; probabilities or decisions are the samples themselves."""

    classes_ = np.array(["a", "b", "c"])

    def predict_proba(self, X):
        return X


def test_losses_are_those_of_the_right_class():
    X = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.3, 0.3, 0.4]])
    found = membership.losses(Classifier(), X, ["b", "a", "d"])
    tiny = -np.log(np.finfo(float).tiny)
    np.testing.assert_allclose(found, [-np.log(0.2), tiny, tiny])


def test_losses_of_margins_and_of_regression():
    class Margin:
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return X

    found = membership.losses(Margin(), np.array([2.0, 2.0]), [1, 0])
    np.testing.assert_allclose(found, [np.log1p(np.exp(-2)), np.log1p(np.exp(2))])

    class Several(Margin):
        classes_ = np.array([0, 1, 2])

    found = membership.losses(Several(), np.array([[3.0, 1.0, 0.0], [3.0, 1.0, 0.0]]), [0, 1])
    np.testing.assert_allclose(found, [np.log1p(np.exp(-2)), np.log1p(np.exp(2))])

    class Regression:
        def predict(self, X):
            return X

    np.testing.assert_allclose(membership.losses(Regression(), np.array([1.0, 2.0]), [0.0, 4.0]), [1.0, 4.0])


def test_a_model_that_remembers_is_found(rng):
    include = rng.random(600) < 0.5
    right = np.where(include, rng.beta(8, 1, 600), rng.beta(2, 1, 600))
    X = np.column_stack([right, (1 - right) / 2, (1 - right) / 2])
    y = ["a"] * 600
    found = membership.from_model(Classifier(), X, y, include, design="one-run", claims="dp(epsilon=0.2, delta=1e-5)")
    assert found.verdict == "violated" and found.canaries == 600
    silent = membership.from_model(Classifier(), X, y, include, claims="dp(epsilon=0.2)", budget=1)
    assert silent.verdict == "inconclusive" and silent.total_variation.lower > 0.1


def test_models_of_scikit_learn(rng):
    linear = pytest.importorskip("sklearn.linear_model")
    svm = pytest.importorskip("sklearn.svm")
    X, y = rng.normal(size=(400, 200)), rng.integers(0, 3, 400)
    include = rng.random(400) < 0.5
    for model in (linear.LogisticRegression(C=1e4, max_iter=1_000), svm.LinearSVC(C=1e4, max_iter=5_000), linear.Ridge(1e-3)):
        model.fit(X[include], y[include])
        claim = "dp(epsilon=0.5, delta=1e-5)"
        r = membership.from_model(model, X, y, include, design="one-run", claims=claim)
        assert r.verdict == "violated", type(model)


WRONG = {
    "count=: must be at least 10": lambda: membership.GradientCanaries(3, norm=1, rate=1),
    "norm=: must be above 0": lambda: membership.GradientCanaries(30, norm=0, rate=1),
    "rate=: must be above 0": lambda: membership.GradientCanaries(30, norm=1, rate=1.5),
    "GradientCanaries(): missing a required": lambda: membership.GradientCanaries(30, norm=1),
    "has no add_noise": lambda: membership.GradientCanaries(30, norm=1, rate=1).attach(object()),
    "is above the clipping norm 0.5": lambda: trained(noise=1, norm=0.75),
    "must be a gradient transformation": lambda: membership.GradientCanaries(30, norm=1, rate=1).wrap(3),
    "has 20 coordinates": lambda: membership.GradientCanaries(30, norm=1, rate=1).add(np.zeros(20)),
    "must be arrays": lambda: membership.GradientCanaries(30, norm=1, rate=1).add("x"),
    "add() was not called": lambda: membership.GradientCanaries(30, norm=1, rate=1).observe(np.zeros(30)),
    "no step was seen": lambda: membership.GradientCanaries(30, norm=1, rate=1).audit(),
    "has no predict_proba": lambda: membership.losses(object(), [1], [1]),
    "returned the shape (1, 2)": lambda: membership.losses(Classifier(), np.ones((1, 2)), ["a"]),
    "has 2 values for 1 scores": lambda: membership.from_model(Classifier(), np.ones((1, 3)), ["a"], [1, 0]),
    "values other than 0 and 1": lambda: membership.from_model(Classifier(), np.ones((1, 3)), ["a"], [2]),
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_calls_say_what_to_do(words):
    with pytest.raises(leakgauge.Error) as refused:
        WRONG[words]()
    assert words in str(refused.value), str(refused.value)


def test_no_library_is_imported():
    assert "torch" not in sys.modules and "jax" not in sys.modules
