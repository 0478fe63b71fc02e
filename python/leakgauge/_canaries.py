"""Gradients that are put into a training run by fair coins, and what its noisy gradients say about them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _options
from ._errors import ArgumentError, checked
from ._native import OptionError
from ._one_run import OneRun

# So that no generator of the training that has the same seed draws the coins.
_OWN_STREAM = 0x6C67


class GradientCanaries:
    """Canaries for one run of DP-SGD: gradients of the clipping norm, each along a coordinate of its own.

        canaries = leakgauge.membership.GradientCanaries(1_000, norm=optimizer.max_grad_norm, rate=sample_rate)
        canaries.attach(optimizer)
        ...  # train
        canaries.audit("dp(epsilon=8, delta=1e-5)")

    Every canary is part of the data or not, by a fair coin. In every step one that is part of them is sampled with the
    probability `rate`, as records are, and its gradient is added to the sum of clipped gradients. Its score is the sum
    over all steps of what the noisy gradient holds along its coordinate: that is what an observer of all noisy
    gradients sees, whom the usual claims of DP-SGD are about. Such an audit is white-box (Nasr et al. 2023,
    arXiv:2302.07956; Steinke, Nasr and Jagielski 2023, arXiv:2305.08846).

    The model is trained a little in directions without meaning. With as few canaries as records per thousand it learns
    as before.

    Attributes:
        include: Which canaries are part of the data; nobody else may see it before the audit.
        scores: One a canary, after the steps so far.
        steps: How many noisy gradients were seen.
    """

    @checked()
    def __init__(self, count: int, *, norm: float, rate: float, seed: int = 0) -> None:
        """Tosses the coins.

        Args:
            count: How many canaries there are, 10 at least.
            norm: The norm that gradients are clipped to: a canary changes the sum as much as one record may. If the sum
                is divided by the size of a batch before noise is added, so is this.
            rate: The probability with which a step samples a record, as in the claim; 1 if steps take all records.
            seed: Of the coins, of the steps that sample a canary, and of the coordinates. It must say nothing about
                the randomness of the training.
        """
        import numpy

        self.count = _options._whole("count", count)
        self.norm, self.rate = _options._number("norm", norm), _options._number("rate", rate)
        if self.count < 10:
            raise ArgumentError(f"count=: must be at least 10, not {count}")
        if not 0 < self.norm < numpy.inf:
            raise ArgumentError(f"norm=: must be above 0 and finite, not {norm}")
        if not 0 < self.rate <= 1:
            raise ArgumentError(f"rate=: must be above 0 and at most 1, not {rate}")
        self._rng = numpy.random.default_rng([_OWN_STREAM, _options._whole("seed", seed)])
        self.include = self._rng.random(self.count) < 0.5
        self.scores = numpy.zeros(self.count)
        self.steps = 0
        self._coordinates: Any = None
        self._sizes: list[int] = []
        # Whether the canaries of a step are in its sum, and what is waited for is the noise.
        self._added = False

    def attach(self, optimizer: Any) -> None:
        """Puts the canaries into every step of a `DPOptimizer` of Opacus, between clipping and noise.

        Raises:
            leakgauge.Error: The optimizer has no sum of clipped gradients, or another clipping norm.
        """
        for name in ("add_noise", "params", "max_grad_norm"):
            if not hasattr(optimizer, name):
                raise ArgumentError(
                    f"optimizer: has no {name}\n  hint: give the optimizer that PrivacyEngine.make_private returns"
                )
        clipped = optimizer.max_grad_norm
        if not isinstance(clipped, (int, float)):
            raise ArgumentError("optimizer: clips every layer by itself\n  hint: clip the whole gradient to one norm")
        if self.norm > clipped:
            raise OptionError(
                f"norm={self.norm}: is above the clipping norm {clipped}, so that a canary is more than a record"
                f"\n  hint: norm={clipped}"
            )
        add_noise: Callable[[], Any] = optimizer.add_noise

        def with_canaries() -> Any:
            parameters = list(optimizer.params)
            summed = self.add([parameter.summed_grad for parameter in parameters])
            for parameter, gradient in zip(parameters, summed, strict=True):
                parameter.summed_grad = gradient
            found = add_noise()
            self.observe([parameter.grad for parameter in parameters])
            return found

        optimizer.add_noise = with_canaries

    def wrap(self, privatizer: Any) -> Any:
        """A transformation of gradients that adds noise (jax_privacy, optax), with the canaries in its sums.

        `update` must be called outside of `jax.jit`, since the scores are kept here.

        Args:
            privatizer: With `init` and `update(gradients, state, …)`, where gradients are sums of clipped ones.
        """
        if not hasattr(privatizer, "update") or not hasattr(privatizer, "_replace"):
            raise ArgumentError("privatizer: must be a gradient transformation, with init and update")
        original = privatizer.update
        signature = inspect.signature(original)

        def update(*given: Any, **named: Any) -> Any:
            # The sum comes first, under any name.
            bound = signature.bind(*given, **named)
            first = next(iter(bound.arguments))
            bound.arguments[first] = self.add(bound.arguments[first])
            noisy, state = original(*bound.args, **bound.kwargs)
            self.observe(noisy)
            return noisy, state

        return privatizer._replace(update=update)

    def add(self, summed: Any) -> Any:
        """A sum of clipped gradients, with those canaries that this step samples: an array, or a tree of arrays."""
        if self._added:
            raise OptionError("add(): was called twice in one step\n  hint: call observe() with the noisy gradients between")
        leaves = _leaves(summed)
        self._place(leaves)
        sampled = self.include if self.rate == 1 else self.include & (self._rng.random(self.count) < self.rate)
        self._added = True
        return _rebuilt(summed, iter([self._with(leaf, sampled, at) for at, leaf in enumerate(leaves)]))

    def observe(self, noisy: Any) -> None:
        """Looks at the noisy gradients of the step, in the form of the sum."""
        import numpy

        if not self._added:
            raise OptionError("observe(): add() was not called in this step\n  hint: call add() with the sum before the noise")
        leaves = _leaves(noisy)
        if [_size(leaf) for leaf in leaves] != self._sizes:
            raise OptionError("observe(): the noisy gradients do not have the form of the sum")
        for at, leaf in enumerate(leaves):
            mine, positions = self._within(at)
            if len(mine):
                seen = leaf.reshape(-1)[_index(leaf, positions)]
                self.scores[mine] += numpy.asarray(seen.tolist(), dtype=float)
        self._added = False
        self.steps += 1

    @checked()
    def audit(self, claims: str | Iterable[str] = (), **options: Any) -> OneRun:
        """What the run proves. Options are those of `audit_scores` for one run: `confidence`, `seed`, `guesses`, …"""
        from ._scores import audit_scores

        if self.steps == 0:
            raise OptionError("audit(): no step was seen\n  hint: attach the canaries before training")
        given = {"member_scores": "high", **options}
        found = audit_scores(include=self.include, scores=self.scores, design="one-run", claims=claims, **given)
        assert isinstance(found, OneRun)
        return found

    def _place(self, leaves: list[Any]) -> None:
        """Gives every canary its coordinate, when the first gradient comes."""
        import numpy

        sizes = [_size(leaf) for leaf in leaves]
        if self._coordinates is None:
            if sum(sizes) < self.count:
                raise OptionError(
                    f"count={self.count}: the gradient has {sum(sizes)} coordinates\n  hint: give as many canaries at most"
                )
            chosen = self._rng.choice(sum(sizes), size=self.count, replace=False)
            self._coordinates, self._sizes = chosen, sizes
            self._starts = numpy.concatenate([[0], numpy.cumsum(sizes)])
        elif sizes != self._sizes:
            raise OptionError("add(): the gradients changed their form between steps")

    def _within(self, at: int) -> tuple[Any, list[int]]:
        """The canaries along coordinates of one array, and where these are."""
        begin, end = self._starts[at], self._starts[at + 1]
        mine = ((self._coordinates >= begin) & (self._coordinates < end)).nonzero()[0]
        return mine, (self._coordinates[mine] - begin).tolist()

    def _with(self, leaf: Any, sampled: Any, at: int) -> Any:
        mine, positions = self._within(at)
        positions = [position for canary, position in zip(mine, positions, strict=True) if sampled[canary]]
        if not positions:
            return leaf
        flat = leaf.reshape(-1)
        if hasattr(flat, "at"):
            # Arrays of JAX cannot be changed.
            flat = flat.at[_index(flat, positions)].add(self.norm)
        else:
            flat = flat.copy() if hasattr(flat, "copy") else flat.clone()
            flat[positions] += self.norm
        return flat.reshape(leaf.shape)


def _index(leaf: Any, positions: list[int]) -> Any:
    """Positions as an array takes them: JAX refuses lists."""
    import numpy

    return numpy.array(positions) if hasattr(leaf, "at") else positions


def _size(leaf: Any) -> int:
    size = 1
    for length in leaf.shape:
        size *= int(length)
    return size


def _leaves(tree: Any) -> list[Any]:
    """The arrays of a tree of dicts, lists and tuples, in order; other trees are those of JAX."""
    if isinstance(tree, Mapping):
        # In an order that does not depend on how a dict was made: JAX sorts the keys of those that it returns.
        return [leaf for key in sorted(tree, key=repr) for leaf in _leaves(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in _leaves(item)]
    if hasattr(tree, "shape") and hasattr(tree, "reshape"):
        return [tree]
    if tree is None:
        return []
    jax: Any = sys.modules.get("jax")
    leaves = list(jax.tree_util.tree_leaves(tree)) if jax is not None else [tree]
    if len(leaves) == 1 and leaves[0] is tree:
        raise ArgumentError(f"gradients: must be arrays, in dicts, lists or tuples, not {type(tree).__name__}")
    return leaves


def _rebuilt(tree: Any, leaves: Any) -> Any:
    """The same tree with other arrays."""
    if isinstance(tree, Mapping):
        rebuilt = {key: _rebuilt(tree[key], leaves) for key in sorted(tree, key=repr)}
        made = {key: rebuilt[key] for key in tree}
        return made if type(tree) is dict else type(tree)(made)  # type: ignore[call-arg]
    if isinstance(tree, (list, tuple)):
        items = [_rebuilt(item, leaves) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if tree is None:
        return None
    if hasattr(tree, "reshape"):
        return next(leaves)
    structure = sys.modules["jax"].tree_util.tree_structure(tree)
    own = [next(leaves) for _ in range(structure.num_leaves)]
    return structure.unflatten(own)
