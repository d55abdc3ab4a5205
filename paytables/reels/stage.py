"""A playable reel stage for one way to bet: strips, distinct columns, components and their tables."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

from paytables.contract import Draw
from paytables.reels.automaton import End, Graph, settle
from paytables.reels.components import Column, Component


@dataclass(frozen=True, slots=True)
class Hit:
    """One prize won in a window: the component, its end, and the number of ways."""

    component: Component
    end: End
    ways: int

    @property
    def credits(self) -> int:
        """Return the credits at level 1, before the stage's multiplier."""
        return self.end.value * self.ways


@dataclass(frozen=True)
class Reels:
    """One stage of one mode. ``strips`` are symbol numbers; the ``weights`` of a reel sum to its number of cases.

    ``columns[x]`` are the distinct columns reel x can show (after expansion) and ``column_at[x][stop]`` is
    the index of the one a stop shows: stops that show the same column are one case to the analysis. If
    scatters are counted before symbols expand, a column contains the unexpanded symbols below its window.
    """

    name: str
    heights: tuple[int, ...]
    strips: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[int, ...], ...]
    multiplier: int
    columns: tuple[tuple[Column, ...], ...]
    column_at: tuple[tuple[int, ...], ...]
    components: tuple[Component, ...]
    graph: Graph
    #: The prizes of the pay table: name, and credits at level 1 before the multiplier.
    promised: tuple[tuple[str, int], ...] = ()
    #: Names of inherited prizes that the stage cannot win and therefore omits.
    dropped: tuple[str, ...] = ()

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """Return the number of equally likely cases of each reel."""
        return tuple(sum(w) for w in self.weights)

    @cached_property
    def cycle(self) -> int:
        """Return the number of equally likely windows, weights included."""
        return prod(self.totals)

    @cached_property
    def column_weights(self) -> tuple[tuple[int, ...], ...]:
        """Return how many of a reel's cases show each of its distinct columns."""
        found = []
        for columns, at, weights in zip(self.columns, self.column_at, self.weights, strict=True):
            counts = [0] * len(columns)
            for column, weight in zip(at, weights, strict=True):
                counts[column] += weight
            found.append(tuple(counts))
        return tuple(found)

    @cached_property
    def starts(self) -> list[int]:
        """Return the first node of every component, as :func:`settle` reads it."""
        return [c.start for c in self.components]

    @cached_property
    def letters(self) -> list[list[tuple[int, ...]]]:
        """Return ``letters[x][column]``: what every component sees of that column."""
        return [
            [tuple(c.find_letter(x, column) for c in self.components) for column in columns]
            for x, columns in enumerate(self.columns)
        ]

    @cached_property
    def _cumulative(self) -> tuple[list[int] | None, ...]:
        return tuple(None if set(w) == {1} else list(accumulate(w)) for w in self.weights)

    @cached_property
    def _purposes(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.reel{x + 1}" for x in range(len(self.strips)))

    @cached_property
    def _drawn(self) -> tuple[tuple[int, str, list[int] | None], ...]:
        """Return, for each reel, the bound of its draw, the purpose, and the upper number of each weighted stop."""
        return tuple(zip(self.totals, self._purposes, self._cumulative, strict=True))

    def spin(self, draw: Draw) -> tuple[int, ...]:
        """Draw one stop for each reel, with one random number each."""
        return tuple(
            [
                value if cumulative is None else bisect_right(cumulative, value)
                for total, purpose, cumulative in self._drawn
                for value in (draw.below(total, purpose),)
            ]
        )

    def spin_some(self, draw: Draw, reels: Iterable[int]) -> dict[int, int]:
        """Draw a stop for some reels only: reel -> stop."""
        stops = {}
        for x in reels:
            total, purpose, cumulative = self._drawn[x]
            value = draw.below(total, purpose)
            stops[x] = value if cumulative is None else bisect_right(cumulative, value)
        return stops

    @cached_property
    def shown_at(self) -> tuple[tuple[Column, ...], ...]:
        """Return ``shown_at[x][stop]``: the column of reel x at that stop, before any symbol expands."""
        return tuple(
            tuple(build_columns(strip, height, frozenset()))
            for strip, height in zip(self.strips, self.heights, strict=True)
        )

    def shown(self, stops: Sequence[int]) -> tuple[Column, ...]:
        """Return the columns as the reels stop, before any symbol expands."""
        return tuple([at[stop] for at, stop in zip(self.shown_at, stops, strict=True)])

    @cached_property
    def _evaluated_at(self) -> tuple[tuple[Column, ...], ...]:
        return tuple(
            tuple(columns[column] for column in at)
            for columns, at in zip(self.columns, self.column_at, strict=True)
        )

    @cached_property
    def has_changing_symbols(self) -> bool:
        """Return whether any evaluated column differs from what stops: a symbol expands, or is stuck."""
        return any(
            column[: len(shown)] != shown
            for both in zip(self._evaluated_at, self.shown_at, strict=True)
            for column, shown in zip(*both, strict=True)
        )

    def window(self, stops: Sequence[int]) -> tuple[Column, ...]:
        """Return the columns that are evaluated at those stops."""
        return tuple([at[stop] for at, stop in zip(self._evaluated_at, stops, strict=True)])

    @cached_property
    def _read(self) -> list[dict[Column, tuple[int, ...]]]:
        """Return the cache of letters by column, for each reel. It includes columns that only falls produce."""
        return [dict(zip(*both, strict=True)) for both in zip(self.columns, self.letters, strict=True)]

    def evaluate(self, window: Sequence[Column]) -> tuple[int, list[Hit]]:
        """Return the credits a window wins at level 1 (before the stage's multiplier), and each prize won."""
        count = len(self.components)
        letters: list[int] = []
        for x, (column, read) in enumerate(zip(window, self._read, strict=True)):
            if column not in read:
                read[column] = tuple(c.find_letter(x, column) for c in self.components)
            letters += read[column]
        return self._settle(letters, [x * count for x in range(len(window))])

    def evaluate_stops(self, stops: Sequence[int]) -> tuple[int, list[Hit]]:
        """Evaluate as :meth:`evaluate`, for a window of the strips, whose letters are already known."""
        letters: list[int] = []
        for known, at, stop in zip(self.letters, self.column_at, stops, strict=True):
            letters += known[at[stop]]
        return self._settle(letters, self._edges)

    def iter_winning_stops(self) -> Iterator[tuple[tuple[int, ...], list[Hit], int]]:
        """Yield the stops of every window with a hit, its hits, and its equally likely cases.

        The reels are read from left to right: stops after which no component can win are not followed
        further.
        """
        yield from self._iter_winning_stops((), [(c, node, 1) for c, node in enumerate(self.starts)], 1)

    def _iter_winning_stops(
        self, stops: tuple[int, ...], alive: list[tuple[int, int, int]], cases: int
    ) -> Iterator[tuple[tuple[int, ...], list[Hit], int]]:
        """Follow the components of ``alive``: each with its node and its weight after ``stops``."""
        g, x = self.graph, len(stops)
        if x == len(self.strips):
            hits = [Hit(self.components[c], g.ends[node], weight) for c, node, weight in alive]
            yield stops, hits, cases
            return
        after: list[list[tuple[int, int, int]]] = []
        for letters in self.letters[x]:
            going = []
            for c, node, weight in alive:
                k = g.row[node]
                if k >= 0:
                    k += letters[c]
                    node, weight = g.delta[k], weight * g.gain[k]  # noqa: PLW2901 (one step of the walk)
                if weight and (g.row[node] >= 0 or g.ends[node].prize is not None):
                    going.append((c, node, weight))
            after.append(going)
        for stop, (column, ways) in enumerate(zip(self.column_at[x], self.weights[x], strict=True)):
            if ways and after[column]:
                yield from self._iter_winning_stops((*stops, stop), after[column], cases * ways)

    @cached_property
    def _edges(self) -> list[int]:
        """Return the offsets of each column's letters, as :func:`settle` reads them."""
        return [x * len(self.components) for x in range(len(self.strips))]

    def _settle(self, letters: list[int], at: list[int]) -> tuple[int, list[Hit]]:
        """Return the credits and the hits of the window whose letters start at ``at``."""
        g, components = self.graph, self.components
        count = len(components)
        ends, weights = [0] * count, [1] * count
        total = settle(
            range(count),
            self.starts,
            [1] * count,
            g.row,
            g.delta,
            g.gain,
            g.value,
            letters,
            at,
            ends,
            weights,
        )
        known = g.ends
        hits = [
            Hit(components[n], known[node], weights[n])
            for n, node in enumerate(ends)
            if known[node].prize is not None and weights[n]
        ]
        return total, hits


def build_columns(
    strip: Sequence[int],
    height: int,
    expand: frozenset[int],
    stuck: Mapping[int, int] | None = None,
    *,
    both: bool = False,
) -> list[Column]:
    """Return the column each stop of a strip shows, after stuck and expanding symbols.

    ``stuck`` is row -> symbol. An expanding symbol fills its reel where it shows, stuck or new. With ``both``
    a column also contains, below the window, the symbols before any expansion.
    """
    found = []
    for stop in range(len(strip)):
        cells = {row: strip[(stop + row) % len(strip)] for row in range(height)} | dict(stuck or {})
        column = tuple(cells[row] for row in range(height))
        filling = next((s for s in column if s in expand), None)
        found.append((column if filling is None else (filling,) * height) + (column if both else ()))
    return found
