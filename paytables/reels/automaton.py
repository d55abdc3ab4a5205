"""The common representation of what a window of reels pays: small automata that read the reels left to right.

Everything a stage can pay is a *component*: a payline (with its group of prizes, of which it pays the highest), a
symbol paid by ways, a scatter, or the record of the cells that a sticky symbol shows on. Of each reel's column, a
component sees only a *letter* (the symbol on its cell, or how many of its symbols show) and moves from *node* to
node; each step may multiply a *weight* (the ways). The *final node* says which prize was won: its win is weight x
value. A component is *alive* while it can still win. Example of three reels that pay a cherry by ways: the reels show
2, 1 and 3 cherries; these are the letters, and the weight becomes 2 x 1 x 3 = 6 ways. The game itself, the compiled
simulator and the exact analysis all read the same tables.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

#: Value of :attr:`WinGraph.letter_offsets` for a final node.
END_OF_GRAPH: Final = -1


@dataclass(frozen=True, slots=True)
class Award:
    """One award that a reel-game prize gives in addition to credits: free games, a progressive level, merchandise.

    The kind ``step`` raises the multiplier of a series of runs; ``stick`` makes cells sticky.
    """

    kind: str
    """What is given: ``stage``, ``progressive``, ``merchandise``, ``step`` or ``stick``."""
    name: str
    """The id of the stage, level or prize in kind that is given."""
    run_count: int = 1
    """The number of runs of the stage that are given."""
    start_condition: int = 0
    """The start condition of the stage, such as the number of coins already locked.

    For ``stick``: the bit mask of the sticky cells.
    """

    def to_json(self) -> dict[str, str | int]:
        """Return the award as the JSON object that the screen and the journal use."""
        return {"kind": self.kind, "name": self.name, "times": self.run_count, "size": self.start_condition}


@dataclass(frozen=True, slots=True)
class LinePrize:
    """One prize in a reel stage's pay table: its credits at bet level 1 in one mode, and its awards."""

    name: str
    """The id of the prize."""
    credits: int
    """The credits that the prize pays at bet level 1."""
    awards: tuple[Award, ...] = ()
    """What the prize gives in addition to credits."""


@dataclass(frozen=True, slots=True)
class GraphEnd:
    """What one pay component (a line, ways or a scatter) wins in one window: the prize, and the cells that won it."""

    prize: LinePrize | None = None
    """The prize won; None: the component wins nothing."""
    multiplier: int = 1
    """The factor of the prize's credits, from the wilds in the win."""
    winning_mask: tuple[bool, ...] = ()
    """For each cell of the line (for ways and scatters: each reel), whether it takes part in the win."""

    @property
    def value(self) -> int:
        """Return the credits for one way: the prize times the multiplier of its wilds; 0 without a prize."""
        return 0 if self.prize is None else self.prize.credits * self.multiplier

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Return the sort key that chooses the best of a component's prizes.

        A prize with an award ranks above any credits. Of two prizes that pay the same, the one with more
        cells ranks higher, because the player is shown the cells.
        """
        return (self.prize is not None and bool(self.prize.awards), self.value, sum(self.winning_mask))


#: The result of a component that wins nothing.
NO_WIN_END: Final = GraphEnd()

StateT = TypeVar("StateT", bound=Hashable)

#: In a histogram of letters, stands for a reel whose letter is left open: the count is the sum over its letters.
ANY_LETTER: Final = -1


class LiveStep(NamedTuple):
    """A step of an automaton after which a win is still possible, and the letters that lead to it."""

    next_node: int
    """The node after the step."""
    factor: int
    """The factor by which the step multiplies the win's weight."""
    signed_letters: list[tuple[int, int]]
    """The letters that lead to the step, with signs: the step's count is the signed sum of the letters' counts.

    The step of most letters has (+1, any letter), and (-1, letter) for each exception.
    """


@dataclass(slots=True)
class WinGraph:
    """The nodes of all pay automata of one reel stage, in flat lists.

    A letter is the number that stands for what a pay component sees in the column of one reel.
    The automaton of a component reads the reels from left to right. ``next_nodes[letter_offsets[node] + letter]`` is
    the next node and ``step_factors`` the factor of the step, for ``letter_counts[node]`` letters.
    ``letter_offsets[node]`` is :data:`END_OF_GRAPH` for a final node; its credits per unit of weight are
    ``win_value_by_node[node]``, its result is ``ends[node]``.
    """

    letter_offsets: list[int] = field(default_factory=list)
    """The offset in ``next_nodes`` of each node's first letter."""
    letter_counts: list[int] = field(default_factory=list)
    """The number of letters that each node reads."""
    next_nodes: list[int] = field(default_factory=list)
    """The next node, by row offset and letter."""
    step_factors: list[int] = field(default_factory=list)
    """The factor by which each step multiplies the weight (number of ways) of the win, by row offset and letter."""
    win_value_by_node: list[int] = field(default_factory=list)
    """The credits that each final node pays for a weight (number of ways) of 1."""
    ends: list[GraphEnd] = field(default_factory=list)
    """The result of each final node."""
    _node_by_end: dict[GraphEnd, int] = field(default_factory=dict)
    """The final node of each result, so that equal results have one node."""
    _live_steps_by_node: dict[int, list[LiveStep]] = field(default_factory=dict)
    """The results of :meth:`list_live_steps`, by node, for the nodes asked for so far."""

    def _add_node(self, end: GraphEnd) -> int:
        """Add a final node with this result (``end``), or an inner node without one; return the node's number."""
        self.letter_offsets.append(END_OF_GRAPH)
        self.letter_counts.append(0)
        self.win_value_by_node.append(end.value)
        self.ends.append(end)
        return len(self.letter_offsets) - 1

    def list_live_steps(self, node: int) -> list[LiveStep]:
        """Return the steps from an automaton's node after which a win is still possible.

        Letters that lead to the same node with the same factor form one step.
        """
        if node not in self._live_steps_by_node:
            first_offset = self.letter_offsets[node]
            letters_by_step: dict[tuple[int, int], list[int]] = {}
            for letter in range(self.letter_counts[node]):
                letters_by_step.setdefault(
                    (self.next_nodes[first_offset + letter], self.step_factors[first_offset + letter]), []
                ).append(letter)
            most_common_step = max(letters_by_step, key=lambda step: len(letters_by_step[step]))
            other_letters = [
                letter
                for step, letters in letters_by_step.items()
                if step != most_common_step
                for letter in letters
            ]
            live_steps: list[LiveStep] = []
            for (next_node, factor), letters in letters_by_step.items():
                if factor and (self.letter_offsets[next_node] >= 0 or self.win_value_by_node[next_node]):
                    signed_letters = [(1, letter) for letter in letters]
                    if (next_node, factor) == most_common_step and len(other_letters) + 1 < len(letters):
                        signed_letters = [(1, ANY_LETTER), *((-1, letter) for letter in other_letters)]
                    live_steps.append(LiveStep(next_node, factor, signed_letters))
            self._live_steps_by_node[node] = live_steps
        return self._live_steps_by_node[node]

    def find_final_node(self, end: GraphEnd) -> int:
        """Return the number of the final node with this result, adding the node on first use."""
        if end not in self._node_by_end:
            self._node_by_end[end] = self._add_node(end)
        return self._node_by_end[end]

    def add_automaton(
        self,
        start: StateT,
        step: Callable[[int, StateT, int], tuple[StateT | GraphEnd, int]],
        letter_counts: Sequence[int],
        finish: Callable[[StateT], GraphEnd],
    ) -> int:
        """Add the nodes of an automaton that reads the reels from first to last, and return its start node.

        ``step(reel, state, letter)`` returns the next state, or the :class:`GraphEnd` if no later reel matters,
        and a factor by which the weight of the win is multiplied (0: nothing is won). ``letter_counts[x]`` is the
        number of letters of reel x; after the last reel ``finish`` turns a state into its end. Only reachable
        states get nodes, each once per reel.
        """
        layers: list[dict[StateT, int]] = [{} for _ in letter_counts]
        layers[0][start] = self._add_node(NO_WIN_END)
        for x, letter_count in enumerate(letter_counts):
            for state, node in layers[x].items():
                steps: list[tuple[int, int]] = []
                for letter in range(letter_count):
                    target, factor = step(x, state, letter)
                    steps.append((self._find_target_node(layers, x + 1, target, finish), factor))
                self.letter_offsets[node] = len(self.next_nodes)
                self.letter_counts[node] = letter_count
                self.next_nodes.extend(n for n, _ in steps)
                self.step_factors.extend(f for _, f in steps)
        return layers[0][start]

    def _find_target_node(
        self,
        layers: list[dict[StateT, int]],
        x: int,
        state: StateT | GraphEnd,
        finish: Callable[[StateT], GraphEnd],
    ) -> int:
        """Return the node for an automaton's state after ``x`` reels, adding the node if the state is new.

        If the state is a :class:`GraphEnd`, the node is that end's final node. After the last reel, ``finish``
        turns the state into a :class:`GraphEnd`.
        """
        if isinstance(state, GraphEnd):
            return self.find_final_node(state)
        if x == len(layers):
            return self.find_final_node(finish(state))
        if state not in layers[x]:
            layers[x][state] = self._add_node(NO_WIN_END)
        return layers[x][state]


def evaluate_window(
    components: Sequence[int],
    start_nodes: Sequence[int],
    start_weights: Sequence[int],
    letter_offsets: Sequence[int],
    next_nodes: Sequence[int],
    step_factors: Sequence[int],
    win_value_by_node: Sequence[int],
    letters: Sequence[int],
    column_offsets: Sequence[int],
    end_nodes: list[int],
    end_weights: list[int],
) -> int:
    """Return the credits at bet level 1 that ``components`` win in one window, by walking their automata.

    Component ``components[i]`` starts in node ``start_nodes[i]`` with the weight ``start_weights[i]``. If no reel is
    read yet, these are its start node and 1. ``column_offsets[x]`` is the offset in ``letters`` of the x-th column that
    is still to be read; a column has one letter per component. The last node and weight of each component are written
    to ``end_nodes`` and ``end_weights``. The cabinet runs this function on lists; the laboratory compiles it for
    arrays.
    """
    total = 0
    for i in range(len(components)):
        component = components[i]
        node = start_nodes[i]
        weight = start_weights[i]
        for x in range(len(column_offsets)):
            step_index = letter_offsets[node]
            if step_index < 0:
                break
            step_index += letters[column_offsets[x] + component]
            weight *= step_factors[step_index]
            node = next_nodes[step_index]
        end_nodes[component] = node
        end_weights[component] = weight
        total += weight * win_value_by_node[node]
    return total
