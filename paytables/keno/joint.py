"""The exact distribution of the total win of one Keno ticket in one draw.

See :mod:`paytables.keno.ticket` for the terms (selection, group, way, spots). The *catch* of a way or a group is how
many of its numbers are drawn. The *named balls* are drawn balls that a bonus names, such as the last ball drawn.

The numbers of the field are divided into *atoms*: numbers that belong to exactly the same groups are equivalent,
and only how many of an atom are drawn matters. Example: the groups {1, 2, 3} and {3, 4} have the atoms {1, 2}, {3} and
{4}. Atoms are processed one after another. A group or a selection is *open* while some of its atoms are processed and
others are not. The state has the catch of each open group, the finished groups of each open selection, and what the
finished selections won. When the last atom of a selection has been processed, its win is known, and it leaves the
state. The order of the atoms finishes one selection before the next, so selections without common numbers are never
open together. Finished groups are stored sorted, so that states that differ only in their order become one: twenty
groups of one number (kings) have at most 21 states, one for each number of kings caught, not 2^20.

The named balls are placed first, each in an atom; the other balls follow as a hypergeometric draw of the remainder. So
a case is one ordered placement of the named balls with one combination of the other balls.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, perm
from typing import TypeAlias

from paytables.errors import AnalysisError

#: What a Keno way or group caught: (numbers in it, how many of them were drawn, the named balls among these as bits).
Catch: TypeAlias = tuple[int, int, int]
#: The win of a Keno way or ticket: credits, and progressive levels as bits.
CreditsAndLevels: TypeAlias = tuple[int, int]
#: The numbers of a group.
NumberGroup: TypeAlias = frozenset[int]

#: Maximum number of simultaneous states; more are beyond exact computation.
JOINT_STATES_MAX = 100_000


@dataclass(frozen=True, slots=True)
class WinCounts:
    """A Keno win distribution: how many of ``case_count`` equally likely cases win each amount and levels."""

    case_count: int
    """The number of equally likely cases."""
    case_count_by_win: Mapping[CreditsAndLevels, int]
    """The number of equally likely cases by what they win: the credits and the progressive levels."""


@dataclass(frozen=True, slots=True)
class JointSelection:
    """A Keno selection in the joint calculation: its groups of numbers, the spots it plays, and its win function."""

    groups: tuple[NumberGroup, ...]
    """The groups of numbers of the selection."""
    spot_counts: frozenset[int]
    """The numbers of spots that the selection plays; each combination of groups of that size is a way."""
    compute_win: Callable[[Mapping[Catch, int]], CreditsAndLevels]
    """A function that returns the win (credits, levels), given the number of ways by what they caught."""


@dataclass(frozen=True, slots=True)
class _JointStep:
    """A step of the joint Keno calculation: it processes one atom."""

    atom: int
    """The index of the atom in the order of processing."""
    touched_groups: tuple[int, ...]
    """The indices of the groups that contain the atom."""
    completed_groups: tuple[int, ...]
    """The indices of the groups that have no numbers in later atoms."""
    completed_selections: tuple[int, ...]
    """The indices of the selections that have no numbers in later atoms."""


#: A state of the calculation: the unnamed balls drawn so far, the credits and levels won by completed selections, the
#: catches of each open group, and the completed groups of each open selection.
_State: TypeAlias = tuple[int, int, int, tuple[int, ...], tuple[tuple[Catch, ...], ...]]


class JointCalculation:
    """The calculation of what several Keno selections on one field of numbers win together."""

    def __init__(
        self,
        selections: Sequence[JointSelection],
        number_count: int,
        drawn_count: int,
        named_ball_count: int = 0,
    ) -> None:
        """Split the Keno field into atoms. Bonuses name ``named_ball_count`` of the ``drawn_count`` balls."""
        self.selections = selections
        """The selections of the joint calculation."""
        self.drawn_count = drawn_count
        """The number of balls drawn."""
        self.named_ball_count = named_ball_count
        """The number of drawn balls that bonuses name."""
        self.number_count = number_count
        """The number of numbers on the Keno field."""
        self.selection_index_by_group = [
            n for n, selection in enumerate(selections) for _ in selection.groups
        ]
        """The index of the selection to which each group belongs."""
        groups = [group for selection in selections for group in selection.groups]
        self.group_sizes = [len(group) for group in groups]
        """The number of numbers in each group."""
        size_by_groups: dict[tuple[int, ...], int] = {}
        for number in sorted(set().union(*groups)):
            group_indexes = tuple(g for g, group in enumerate(groups) if number in group)
            size_by_groups[group_indexes] = size_by_groups.get(group_indexes, 0) + 1
        self.steps, self.atom_sizes = self._order_atoms(size_by_groups)
        """The atoms in the order of processing, and the number of numbers in each."""
        self.numbers_outside = number_count - sum(self.atom_sizes)
        """How many numbers of the field no group contains."""
        self._win_by_catches: dict[tuple[int, tuple[Catch, ...]], CreditsAndLevels] = {}
        """The wins computed so far, by selection and what its groups have caught."""

    def _order_atoms(
        self, size_by_groups: Mapping[tuple[int, ...], int]
    ) -> tuple[list[_JointStep], list[int]]:
        """Return the steps of the calculation, one for each atom, and the sizes of the atoms in this order.

        The next atoms always belong to the selection with the fewest atoms left, so that selections are
        completed early.
        """
        unordered_sizes = dict(size_by_groups)
        ordered_atoms: list[tuple[int, ...]] = []
        while unordered_sizes:
            atoms_left: dict[int, list[tuple[int, ...]]] = {}
            for group_indexes in unordered_sizes:
                for selection_index in {self.selection_index_by_group[g] for g in group_indexes}:
                    atoms_left.setdefault(selection_index, []).append(group_indexes)
            selection_index = min(atoms_left, key=lambda n: (len(atoms_left[n]), n))
            for group_indexes in sorted(atoms_left[selection_index]):
                ordered_atoms.append(group_indexes)
                del unordered_sizes[group_indexes]
        last_of_group = {g: i for i, group_indexes in enumerate(ordered_atoms) for g in group_indexes}
        last_of_selection = {
            self.selection_index_by_group[g]: i
            for i, group_indexes in enumerate(ordered_atoms)
            for g in group_indexes
        }
        steps = [
            _JointStep(
                atom=i,
                touched_groups=group_indexes,
                completed_groups=tuple(g for g in group_indexes if last_of_group[g] == i),
                completed_selections=tuple(n for n, last in last_of_selection.items() if last == i),
            )
            for i, group_indexes in enumerate(ordered_atoms)
        ]
        return steps, [size_by_groups[group_indexes] for group_indexes in ordered_atoms]

    def compute_distribution(self, states_max: int = JOINT_STATES_MAX) -> WinCounts:
        """Return the exact distribution of the Keno selections' total win in a draw.

        Raises :class:`AnalysisError` if that takes more than ``states_max`` states.
        """
        case_count_by_win: dict[CreditsAndLevels, int] = {}
        for weight, sizes, named_ball_bits in self._iter_placements(
            list(self.atom_sizes), self.numbers_outside, 0
        ):
            for win, count in self._count_results(sizes, named_ball_bits, states_max).items():
                case_count_by_win[win] = case_count_by_win.get(win, 0) + weight * count
        total = perm(self.number_count, self.named_ball_count) * comb(
            self.number_count - self.named_ball_count, self.drawn_count - self.named_ball_count
        )
        return WinCounts(total, case_count_by_win)

    def _iter_placements(
        self, sizes: list[int], numbers_outside: int, ball_index: int
    ) -> Iterator[tuple[int, list[int], list[int]]]:
        """Yield every distribution of the named balls over the atoms.

        Each item has the number of ordered placements, the sizes of the atoms without these balls (the last one is the
        count of numbers outside all groups), and per atom the bits of the named balls in it.
        """
        if ball_index == self.named_ball_count:
            yield 1, [*sizes, numbers_outside], [0] * len(sizes)
            return
        for atom in range(len(sizes)):
            if sizes[atom]:
                sizes_after = [n - (i == atom) for i, n in enumerate(sizes)]
                for weight, sizes_left, named_ball_bits in self._iter_placements(
                    sizes_after, numbers_outside, ball_index + 1
                ):
                    bits_after = [
                        bits | (1 << ball_index if i == atom else 0) for i, bits in enumerate(named_ball_bits)
                    ]
                    yield weight * sizes[atom], sizes_left, bits_after
        if numbers_outside:
            for weight, sizes_left, named_ball_bits in self._iter_placements(
                sizes, numbers_outside - 1, ball_index + 1
            ):
                yield weight * numbers_outside, sizes_left, named_ball_bits

    def _count_results(
        self, sizes: Sequence[int], named_ball_bits: Sequence[int], states_max: int
    ) -> dict[CreditsAndLevels, int]:
        """Return how many Keno draws win each result, if each atom holds the named balls ``named_ball_bits`` (bits).

        Raises AnalysisError if there are more than ``states_max`` states at once.
        """
        unnamed_ball_count = self.drawn_count - self.named_ball_count
        named_bits_by_group = [0] * len(self.group_sizes)
        for step in self.steps:
            for g in step.touched_groups:
                named_bits_by_group[g] |= named_ball_bits[step.atom]
        start_state: _State = (
            0,
            0,
            0,
            tuple(bits.bit_count() for bits in named_bits_by_group),
            ((),) * len(self.selections),
        )
        states: dict[_State, int] = {start_state: 1}
        for step in self.steps:
            states = self._process_atom(
                step, sizes[step.atom], unnamed_ball_count, named_bits_by_group, states
            )
            if len(states) > states_max:
                raise AnalysisError(
                    f"the joint distribution of {len(self.selections)} overlapping selections needs more than "
                    f"{states_max} states at once: it is too costly to compute exactly"
                )
        case_count_by_win: dict[CreditsAndLevels, int] = {}
        for (balls_drawn, credits_, levels, _, _), count in states.items():
            remaining_combinations = comb(sizes[-1], unnamed_ball_count - balls_drawn)
            if remaining_combinations:
                case_count_by_win[credits_, levels] = (
                    case_count_by_win.get((credits_, levels), 0) + count * remaining_combinations
                )
        return case_count_by_win

    def _process_atom(
        self,
        step: _JointStep,
        size: int,
        balls_to_draw: int,
        named_bits_by_group: Sequence[int],
        states: Mapping[_State, int],
    ) -> dict[_State, int]:
        """Return the calculation's states after one more atom.

        Every possible number of drawn balls in the atom is followed, and the wins that it completes are
        added. ``balls_to_draw`` is the number of unnamed balls of a draw.
        """
        states_after: dict[_State, int] = {}
        for (balls_drawn, credits_, levels, catches, completed_catches), count in states.items():
            for balls_in_atom in range(min(size, balls_to_draw - balls_drawn) + 1):
                catches_after = list(catches)
                for g in step.touched_groups:
                    catches_after[g] += balls_in_atom
                group_catches = list(completed_catches)
                for g in step.completed_groups:
                    selection_index = self.selection_index_by_group[g]
                    group_catch = (self.group_sizes[g], catches_after[g], named_bits_by_group[g])
                    group_catches[selection_index] = tuple(
                        sorted((*group_catches[selection_index], group_catch))
                    )
                    catches_after[g] = 0
                credits_after, levels_after = credits_, levels
                for selection_index in step.completed_selections:
                    won_credits, won_levels = self._find_selection_win(
                        selection_index, group_catches[selection_index]
                    )
                    credits_after += won_credits
                    levels_after |= won_levels  # a draw pays each level at most once
                    group_catches[selection_index] = ()
                state = (
                    balls_drawn + balls_in_atom,
                    credits_after,
                    levels_after,
                    tuple(catches_after),
                    tuple(group_catches),
                )
                states_after[state] = states_after.get(state, 0) + count * comb(size, balls_in_atom)
        return states_after

    def _find_selection_win(self, selection_index: int, group_catches: tuple[Catch, ...]) -> CreditsAndLevels:
        """Return the win of a Keno selection from what each of its groups caught."""
        key = (selection_index, group_catches)
        if key not in self._win_by_catches:
            self._win_by_catches[key] = self.selections[selection_index].compute_win(
                count_ways_by_catch(group_catches, self.selections[selection_index].spot_counts)
            )
        return self._win_by_catches[key]


def count_ways_by_catch(group_catches: Sequence[Catch], spot_counts: frozenset[int]) -> dict[Catch, int]:
    """Return how many ways of a Keno selection caught the same, from what each of its groups caught.

    A way combines groups; only ways whose number of spots is in ``spot_counts`` are returned.
    """
    spot_count_max = max(spot_counts)
    way_count_by_catch: dict[Catch, int] = {(0, 0, 0): 1}
    for group_size, group_catch, group_ball_bits in group_catches:
        for (way_size, way_catch, way_ball_bits), count in list(way_count_by_catch.items()):
            if way_size + group_size <= spot_count_max:
                key = (way_size + group_size, way_catch + group_catch, way_ball_bits | group_ball_bits)
                way_count_by_catch[key] = way_count_by_catch.get(key, 0) + count
    return {key: count for key, count in way_count_by_catch.items() if key[0] in spot_counts}
