"""The most that one run of a reel stage can pay, and in how many windows, without enumerating the cycle.

A depth-first search over the columns, reel by reel (branch and bound): the sum of the maxima of all components bounds
what a window can still pay, so a branch that cannot reach the highest pay found so far is abandoned. It uses exact
integers and no laboratory package. See :mod:`paytables.reels.automaton` for the terms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from paytables.errors import BeyondExactAnalysisError
from paytables.reels.moments import (
    JOINT_AWARD_COMPONENTS_MAX,
    find_given_awards,
    list_award_component_indexes,
)
from paytables.reels.run import GivenAwards
from paytables.reels.stage import ReelSet

#: Maximum number of branches to follow: some seconds.
BRANCHES_MAX = 400_000

#: A pay component in progress: its number, its node, and the weight of its win so far.
ComponentProgress = tuple[int, int, int]


def find_top_pays(reels: ReelSet) -> Mapping[GivenAwards, tuple[int, int]]:
    """Return, for each combination of awards, the highest pay of a window that gives it, and how many windows do so.

    Raises :class:`BeyondExactAnalysisError` if too many prizes give awards, or too many branches stay open.
    """
    award_component_indexes = list_award_component_indexes(reels)
    if len(award_component_indexes) > JOINT_AWARD_COMPONENTS_MAX:
        raise BeyondExactAnalysisError(
            f"stage {reels.name}: {len(award_component_indexes)} components give awards, too many for the "
            "search for its highest win"
        )
    search = _HighestPaySearch(reels, award_component_indexes)
    top_pays = {}
    for given_awards in search.find_possible_awards(
        0, tuple(reels.start_nodes[c] for c in award_component_indexes)
    ):
        credits_, case_count = search.find_highest_pay(given_awards)
        if case_count:
            top_pays[given_awards] = (credits_ * reels.multiplier, case_count)
    return top_pays


@dataclass(slots=True)
class _HighestPaySearch:
    """The search for the highest pay of a reel stage's windows."""

    reels: ReelSet
    award_component_indexes: Sequence[int]
    """The indices of the pay components that can give awards."""
    _highest_win_by_node: dict[int, int] = field(default_factory=dict)
    """The highest pay that can follow each node."""
    _possible_awards_by_nodes: dict[tuple[int, tuple[int, ...]], frozenset[GivenAwards]] = field(
        default_factory=dict
    )
    """The combinations of awards that can still be given, by reel and nodes."""
    _branch_count: int = 0
    """The number of branches examined so far; the search fails if it exceeds a limit."""

    def find_highest_win_from(self, node: int) -> int:
        """Return the highest win that a pay component in ``node`` can still reach, per unit of its weight."""
        if node not in self._highest_win_by_node:
            graph = self.reels.graph
            first_offset = graph.letter_offsets[node]
            if first_offset < 0:
                self._highest_win_by_node[node] = graph.win_value_by_node[node]
            else:
                steps = range(first_offset, first_offset + graph.letter_counts[node])
                self._highest_win_by_node[node] = max(
                    graph.step_factors[step_index] * self.find_highest_win_from(graph.next_nodes[step_index])
                    if graph.step_factors[step_index]
                    else 0
                    for step_index in steps
                )
        return self._highest_win_by_node[node]

    def _follow_letter(self, node: int, letter: int) -> tuple[int, int]:
        """Return the node that a letter leads to from ``node``, and the factor for the win's number of ways.

        For a final node, return the node itself and the factor 1.
        """
        graph = self.reels.graph
        if graph.letter_offsets[node] < 0:
            return node, 1
        step_index = graph.letter_offsets[node] + letter
        return graph.next_nodes[step_index], graph.step_factors[step_index]

    def find_possible_awards(self, x: int, nodes: tuple[int, ...]) -> frozenset[GivenAwards]:
        """Return every combination of awards that is still possible before reel ``x`` is read.

        ``nodes`` are the current nodes of the components that can give awards.
        """
        key = (x, nodes)
        if key not in self._possible_awards_by_nodes:
            if x == len(self.reels.strips):
                self._possible_awards_by_nodes[key] = frozenset({find_given_awards(self.reels, nodes)})
            else:
                different_letters = {
                    tuple(letters[c] for c in self.award_component_indexes)
                    for letters in self.reels.letters[x]
                }
                nodes_after = {
                    tuple(self._follow_letter(n, letter)[0] for n, letter in zip(nodes, letters, strict=True))
                    for letters in different_letters
                }
                self._possible_awards_by_nodes[key] = frozenset().union(
                    *(self.find_possible_awards(x + 1, targets) for targets in nodes_after)
                )
        return self._possible_awards_by_nodes[key]

    def find_highest_pay(self, given_awards: GivenAwards) -> tuple[int, int]:
        """Return the highest pay of windows that give exactly these awards, and the number of cases with that pay."""
        highest_pay, case_count = 0, 0
        case_counts = self.reels.case_counts
        start_nodes, letter_offsets = self.reels.start_nodes, self.reels.graph.letter_offsets
        live_components = tuple((c, node, 1) for c, node in enumerate(start_nodes))
        pay_bound = sum(self.find_highest_win_from(node) for node in start_nodes)
        open_branches = [
            _SearchBranch(
                pay_bound,
                0,
                1,
                0,
                live_components,
                tuple(start_nodes[c] for c in self.award_component_indexes),
            )
        ]
        while open_branches:
            branch = open_branches.pop()
            if branch.pay_bound < highest_pay:
                continue
            if branch.reels_read < len(case_counts) and (
                branch.live_components or any(letter_offsets[n] >= 0 for n in branch.award_nodes)
            ):
                self._branch_count += 1
                if self._branch_count > BRANCHES_MAX:
                    raise BeyondExactAnalysisError(
                        f"stage {self.reels.name}: the search for its highest win is too wide"
                    )
                longer_branches = [
                    b for b in self._extend_branch(branch, given_awards) if b.pay_bound >= highest_pay
                ]
                # the last branch, with the highest bound, is followed first
                open_branches += sorted(longer_branches, key=lambda b: b.pay_bound)
            else:  # nothing more can be won or awarded, so the bound is the pay, whatever the later reels show
                branch_case_count = branch.case_count * prod(case_counts[branch.reels_read :])
                if branch.pay_bound > highest_pay or not case_count:
                    highest_pay, case_count = branch.pay_bound, branch_case_count
                else:
                    case_count += branch_case_count
        return highest_pay, case_count

    def _extend_branch(self, branch: "_SearchBranch", given_awards: GivenAwards) -> "list[_SearchBranch]":
        """Return the continuations of a search branch, one per column of the next reel, with equal ones combined.

        Columns after which the awards ``given_awards`` are impossible are left out.
        """
        x = branch.reels_read
        graph = self.reels.graph
        letter_offsets, win_value_by_node = graph.letter_offsets, graph.win_value_by_node
        branch_by_key: dict[tuple[int, tuple[ComponentProgress, ...], tuple[int, ...]], _SearchBranch] = {}
        for letters, column_weight in zip(self.reels.letters[x], self.reels.column_weights[x], strict=True):
            award_nodes = tuple(
                [
                    self._follow_letter(n, letters[c])[0]
                    for n, c in zip(branch.award_nodes, self.award_component_indexes, strict=True)
                ]
            )
            if given_awards not in self.find_possible_awards(x + 1, award_nodes):
                continue
            won_credits = pay_bound = branch.won_credits
            live_components = []
            for c, node, weight in branch.live_components:
                step_index = letter_offsets[node] + letters[c]
                node_after, weight_after = (
                    graph.next_nodes[step_index],
                    weight * graph.step_factors[step_index],
                )
                if not weight_after:
                    continue
                if letter_offsets[node_after] < 0:
                    won_credits += weight_after * win_value_by_node[node_after]
                    pay_bound += weight_after * win_value_by_node[node_after]
                else:
                    live_components.append((c, node_after, weight_after))
                    pay_bound += weight_after * self.find_highest_win_from(node_after)
            key = (won_credits, tuple(live_components), award_nodes)
            if key in branch_by_key:
                branch_by_key[key].case_count += branch.case_count * column_weight
            else:
                branch_by_key[key] = _SearchBranch(
                    pay_bound,
                    x + 1,
                    branch.case_count * column_weight,
                    won_credits,
                    tuple(live_components),
                    award_nodes,
                )
        return list(branch_by_key.values())


@dataclass(slots=True)
class _SearchBranch:
    """Windows that are equivalent in the reels read so far, with their number and an upper bound of their pay."""

    pay_bound: int
    """The upper bound of the pay of these windows."""
    reels_read: int
    """The number of reels read so far."""
    case_count: int
    """The number of equally likely cases of the reels read so far that lead to these windows."""
    won_credits: int
    """The pay that these windows have won already."""
    live_components: tuple[ComponentProgress, ...]
    """The components that can still win, each with its node and the factor (number of ways) of its win."""
    award_nodes: tuple[int, ...]
    """The current nodes of the components that can give awards."""
