"""The whole distribution of one reel run, exactly: every window, but none of them one by one.

Reels are read from left to right, as the automata do. After each reel, windows that stand alike (the same
components alive in the same nodes, the same credits already sure, the same awards already given) are one
case with a
count. Most lines are dead after two or three reels, so a cycle of billions comes down to some tens of
thousands of cases. Counts are 64-bit integers: the cycle is checked to fit them.

This is a laboratory computation: numpy is imported where it is used.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paytables.errors import BeyondReach
from paytables.reels.automaton import Award, Graph
from paytables.reels.moments import award_components
from paytables.reels.run import Given, given_of
from paytables.reels.stage import Reels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.signedinteger[Any]]

#: Counts and credits are int64.
CYCLE_MAX = 1 << 62


def run_law(reels: Reels) -> Mapping[tuple[int, Given], int]:
    """Return how many windows of the cycle pay how many credits (at level 1) and give what.

    Raises :class:`BeyondReach` when the cycle does not fit 64 bits.
    """
    import numpy as np  # noqa: PLC0415 (laboratory package)

    if reels.cycle > CYCLE_MAX:
        raise BeyondReach(f"stage {reels.name}: a cycle of {reels.cycle:,} does not fit 64 bits")
    tables = _Tables(reels)
    nodes = np.array([reels.starts], dtype=np.int32)
    weights = np.ones((1, len(tables.weighted)), dtype=np.int64)
    credits_ = np.zeros(1, dtype=np.int64)
    given = np.zeros(1, dtype=np.int64)
    counts = np.ones(1, dtype=np.int64)
    for letters, cases in zip(reels.letters, reels.column_weights, strict=True):
        parts: list[_Part] = []
        for row, case in _merge_letters(letters, cases):
            moved, grown = tables.step(nodes, weights, np.array(row, dtype=np.int32))
            moved, grown, won, code = tables.settle(moved, grown)
            parts.append((moved, grown, credits_ + won, given + code, counts * case))
            if len(parts) == _CHUNK:
                parts = [_merge(parts)]
        nodes, weights, credits_, given, counts = _merge(parts)
    law: dict[tuple[int, Given], int] = defaultdict(int)
    for paid, awards, count in zip(credits_.tolist(), given.tolist(), counts.tolist(), strict=True):
        law[paid * reels.multiplier, tables.given(awards)] += count
    return dict(law)


#: Columns whose results are merged at a time: bounds the memory.
_CHUNK = 16


def _merge_letters(
    letters: Sequence[tuple[int, ...]], cases: Sequence[int]
) -> list[tuple[tuple[int, ...], int]]:
    merged: dict[tuple[int, ...], int] = defaultdict(int)
    for row, case in zip(letters, cases, strict=True):
        merged[row] += case
    return list(merged.items())


class _Tables:
    """The stage's graph as arrays. Awards are one integer, with a digit for each component that gives."""

    def __init__(self, reels: Reels) -> None:
        import numpy as np  # noqa: PLC0415 (laboratory package)

        g: Graph = reels.graph
        self.row = np.array(g.row, dtype=np.int32)
        self.delta = np.array(g.delta, dtype=np.int32)
        self.gain = np.array(g.gain, dtype=np.int64)
        self.value = np.array(g.value, dtype=np.int64)
        self.weighted = [c for c, component in enumerate(reels.components) if component.kind == "ways"]
        self.plain = [c for c, component in enumerate(reels.components) if component.kind != "ways"]
        kinds = sorted({given_of(e.prize.awards) for e in g.ends if e.prize is not None} - {()}, key=repr)
        base = len(kinds) + 1
        givers = award_components(reels)
        if base ** len(givers) > CYCLE_MAX:
            raise BeyondReach(
                f"stage {reels.name}: {len(givers)} components giving {len(kinds)} kinds are too many"
            )
        self.kinds: list[Given] = [(), *kinds]
        self.base = base
        digit = {kind: i for i, kind in enumerate(self.kinds)}
        given = [given_of(e.prize.awards) if e.prize is not None else () for e in g.ends]
        self.digit = np.array([digit[kind] for kind in given], dtype=np.int64)
        place = [base ** givers.index(c) if c in givers else 0 for c in range(len(reels.components))]
        self.place = np.array(place, dtype=np.int64)
        self.dead = next((n for n, r in enumerate(g.row) if r < 0 and not g.ends[n].prize), -1)

    def step(self, nodes: "Ints", weights: "Ints", letters: "Ints") -> tuple["Ints", "Ints"]:
        """Move every component of every case by one reel; only ways have weights that grow."""
        import numpy as np  # noqa: PLC0415 (laboratory package)

        row = self.row[nodes]
        alive = row >= 0
        k = np.where(alive, row + letters, 0)
        if self.weighted:
            part = self.weighted
            weights = np.where(alive[:, part], weights * self.gain[k[:, part]], weights)
        return np.where(alive, self.delta[k], nodes), weights

    def settle(self, nodes: "Ints", weights: "Ints") -> tuple["Ints", "Ints", "Ints", "Ints"]:
        """Take what is final out of the cases: its credits and awards are sure."""
        import numpy as np  # noqa: PLC0415 (laboratory package)

        final = self.row[nodes] < 0
        value = np.where(final, self.value[nodes], 0)
        won = value[:, self.plain].sum(axis=1)
        if self.weighted:
            won = won + (value[:, self.weighted] * weights).sum(axis=1)
            weights = np.where(final[:, self.weighted], 1, weights)
        code = np.where(final, self.digit[nodes] * self.place, 0).sum(axis=1)
        return np.where(final, self.dead, nodes), weights, won, code

    def given(self, code: int) -> Given:
        """Return the awards of a code."""
        awards: list[Award] = []
        while code:
            code, digit = divmod(code, self.base)
            awards += self.kinds[digit]
        return given_of(awards)


_Part = tuple[Any, Any, Any, Any, Any]


def _merge(parts: Sequence[_Part]) -> _Part:
    """Add up the cases that stand alike: a 64-bit hash groups them, and equality is then checked."""
    import numpy as np  # noqa: PLC0415 (laboratory package)

    nodes, weights, credits_, given, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    whole = np.column_stack([nodes, weights, credits_, given])
    factors = np.cumprod(np.full(whole.shape[1], 0x9E3779B97F4A7C15, dtype=np.uint64)) | np.uint64(1)
    mixed = whole.astype(np.uint64) * factors
    mixed ^= mixed >> np.uint64(29)
    keys = (mixed * np.uint64(0xBF58476D1CE4E5B9)).sum(axis=1, dtype=np.uint64)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if not (whole == whole[first][inverse]).all():
        _, first, inverse = np.unique(whole, axis=0, return_index=True, return_inverse=True)
    totals = np.zeros(len(first), dtype=np.int64)
    np.add.at(totals, inverse.reshape(-1), counts)
    return nodes[first], weights[first], credits_[first], given[first], totals
