"""A requested Keno ticket: selections of marked groups, their ways, and the cost.

A *selection* is one or more groups of numbers, with a stake for each number of spots that it plays. A *way* is a
set of its groups that together hold one of these numbers of spots. A straight selection has one group; a way
ticket plays sets of groups; a combination ticket plays several numbers of spots at once, each with its stake; a
king is a group of one number.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from paytables.contract import Json
from paytables.errors import WagerError
from paytables.keno.schema import KenoDefinition
from paytables.keno.tables import BonusesInForce, KenoPays, build_bonuses_in_force
from paytables.wording import format_count

#: Maximum number of ways of a selection for one number of spots: nobody could check the prizes of more.
WAYS_MAX = 2000


@dataclass(frozen=True, slots=True)
class TicketSelection:
    """A Keno selection: the sizes of its groups, their numbers if marked, and the stake for each number of spots.

    ``groups`` is empty if a quick pick will choose all the numbers.
    """

    group_sizes: tuple[int, ...]
    """The number of numbers in each group of the selection."""
    groups: tuple[tuple[int, ...], ...]
    """The numbers of each group; empty for a quick pick that is not drawn yet."""
    stake_by_spot_count: Mapping[int, int]
    """The credits staked on each way, by the way's number of spots."""

    @property
    def is_quick_pick(self) -> bool:
        """Return whether the Keno numbers are still to be drawn by a quick pick."""
        return not self.groups

    def count_ways(self) -> dict[int, int]:
        """Return the number of ways of the Keno selection for each number of spots that is played."""
        way_count_by_spot_count = {0: 1}
        for size in self.group_sizes:
            for spot_count, way_count in list(way_count_by_spot_count.items()):
                way_count_by_spot_count[spot_count + size] = (
                    way_count_by_spot_count.get(spot_count + size, 0) + way_count
                )
        return {
            spot_count: way_count_by_spot_count.get(spot_count, 0) for spot_count in self.stake_by_spot_count
        }

    def to_json(self) -> dict[str, Json]:
        """Return the Keno selection as a wager stores it; :func:`parse_request` is the inverse."""
        return {
            "groups": [list(g) for g in self.groups] or list(self.group_sizes),
            "stakes": {str(spots): stake for spots, stake in sorted(self.stake_by_spot_count.items())},
        }


@dataclass(frozen=True, slots=True)
class KenoTicket:
    """A Keno wager: its selections, the number of draws it takes part in, and its bonuses."""

    selections: tuple[TicketSelection, ...]
    """The selections on the ticket."""
    draw_count: int
    """The number of draws in which the ticket takes part."""
    bonuses_in_force: BonusesInForce
    """The bonuses in force for the ticket."""

    @property
    def cost_per_draw_credits(self) -> int:
        """Return the cost of one draw of the Keno ticket, in credits."""
        staked_credits = sum(
            n * s.stake_by_spot_count[spots] for s in self.selections for spots, n in s.count_ways().items()
        )
        return staked_credits * self.bonuses_in_force.cost_per_staked_credit

    @property
    def cost_credits(self) -> int:
        """Return the cost of the Keno ticket for all its draws, in credits."""
        return self.cost_per_draw_credits * self.draw_count

    def to_json(self) -> dict[str, Json]:
        """Return the Keno ticket as a wager's options; :func:`parse_request` is the inverse."""
        return {
            "selections": [s.to_json() for s in self.selections],
            "draws": self.draw_count,
            "bonuses": list(self.bonuses_in_force.bought_ids),
        }


def exclude_unplayed_levels(keno_pays: KenoPays, ticket: KenoTicket) -> KenoPays:
    """Return the pay tables without the linked levels for which this Keno ticket does not play."""
    is_single_selection = ticket.draw_count == 1 and len(ticket.selections) == 1
    way_counts = ticket.selections[0].count_ways() if is_single_selection else {}
    excluded_mask = sum(
        1 << i
        for i, level in enumerate(keno_pays.levels)
        if level.is_linked
        and (way_counts != {level.spot_count: 1} or ticket.cost_credits != level.stake_min_credits)
    )
    return replace(keno_pays, excluded_levels_mask=excluded_mask)


def iter_group_combinations(
    sizes: Sequence[int], spot_count: int, first_group: int = 0
) -> Iterator[tuple[int, ...]]:
    """Yield, as indices, every combination of number groups that together have ``spot_count`` numbers.

    ``sizes`` are the groups' sizes; only groups from index ``first_group`` on are used.
    """
    if spot_count == 0:
        yield ()
        return
    for i in range(first_group, len(sizes)):
        if sizes[i] <= spot_count:
            for other_groups in iter_group_combinations(sizes, spot_count - sizes[i], i + 1):
                yield (i, *other_groups)


def parse_request(definition: KenoDefinition, keno_pays: KenoPays, request: Mapping[str, Json]) -> KenoTicket:
    """Return a requested Keno ticket after checking it against the definition.

    Raises :class:`WagerError` with the wrong field and the reason.
    """
    unknown_keys = set(request) - {"selections", "draws", "bonuses"}
    if unknown_keys:
        raise WagerError(f"a ticket has selections, draws and bonuses, not {', '.join(sorted(unknown_keys))}")
    draws = request.get("draws", 1)
    if not _is_integer(draws) or not 1 <= draws <= definition.ticket_limits.draws_max:
        raise WagerError(f"draws: {draws!r} is not a number from 1 to {definition.ticket_limits.draws_max}")
    bought_ids = request.get("bonuses", ())
    sold_ids = [b.id for b in definition.bonuses if b.fee_per_credit]
    if (
        not _is_list(bought_ids)
        or any(b not in sold_ids for b in bought_ids)
        or len(set(bought_ids)) != len(bought_ids)
    ):
        raise WagerError(f"bonuses: expected different ones of {sold_ids}, found {bought_ids!r}")
    selections = request.get("selections", ())
    selections_max = definition.ticket_limits.selections_max
    if not _is_list(selections) or not 1 <= len(selections) <= selections_max:
        raise WagerError(f"selections: a ticket has 1 to {selections_max} of them")
    ticket = KenoTicket(
        selections=tuple(_parse_selection(definition, keno_pays, s, i) for i, s in enumerate(selections)),
        draw_count=draws,
        bonuses_in_force=build_bonuses_in_force(definition, bought_ids),
    )
    cost_max_credits = definition.ticket_limits.cost_max_credits
    if cost_max_credits is not None and ticket.cost_per_draw_credits > cost_max_credits:
        raise WagerError(
            f"the ticket costs {format_count(ticket.cost_per_draw_credits, 'credit')} a draw,"
            f" and at most {cost_max_credits} may be bet"
        )
    return ticket


def _parse_selection(
    definition: KenoDefinition, keno_pays: KenoPays, request: Json, selection_index: int
) -> TicketSelection:
    """Return one selection of a requested ticket. Raises :class:`WagerError`."""
    error_prefix = f"selection {selection_index + 1}"
    if not isinstance(request, Mapping) or set(request) != {"groups", "stakes"}:
        raise WagerError(f"{error_prefix}: may only have groups and stakes")
    selection = TicketSelection(
        group_sizes=_parse_sizes(definition, request["groups"], error_prefix),
        groups=_parse_marked_groups(definition, request["groups"], error_prefix),
        stake_by_spot_count=_parse_stakes(request["stakes"], error_prefix),
    )
    number_count = sum(selection.group_sizes)
    if number_count > definition.field.number_count:
        raise WagerError(
            f"{error_prefix}: {format_count(number_count, 'number')} on a field of {definition.field.number_count}"
        )
    for spot_count, way_count in selection.count_ways().items():
        stake = selection.stake_by_spot_count[spot_count]
        if spot_count not in keno_pays.pays_by_spot_count:
            raise WagerError(
                f"{error_prefix}: there is no pay table for {format_count(spot_count, 'spot')}; "
                f"expected one of {sorted(keno_pays.pays_by_spot_count)}"
            )
        if stake not in definition.ticket_limits.stake_options:
            raise WagerError(
                f"{error_prefix}: the stake is {stake}; expected one of {list(definition.ticket_limits.stake_options)}"
            )
        if not way_count:
            sizes = ", ".join(map(str, selection.group_sizes))
            raise WagerError(
                f"{error_prefix}: no combination of its groups (sizes: {sizes}) has {format_count(spot_count, 'spot')}"
            )
        if way_count > WAYS_MAX:
            ways_text = f"{format_count(way_count, 'way')} of {format_count(spot_count, 'spot')}"
            raise WagerError(
                f"{error_prefix}: {ways_text}; a selection has at most {WAYS_MAX} of one number of spots"
            )
    used_groups = {
        g
        for spot_count in selection.stake_by_spot_count
        for way in iter_group_combinations(selection.group_sizes, spot_count)
        for g in way
    }
    if len(used_groups) != len(selection.group_sizes):
        raise WagerError(f"{error_prefix}: a group is part of none of the selection's ways")
    return selection


def _parse_sizes(definition: KenoDefinition, groups: Json, error_prefix: str) -> tuple[int, ...]:
    """Return the number of spots in each group of a selection, marked or quick pick. Raises :class:`WagerError`."""
    groups_max = definition.ticket_limits.groups_max
    if not _is_list(groups) or not 1 <= len(groups) <= groups_max:
        raise WagerError(f"{error_prefix}, groups: a selection has 1 to {groups_max} of them")
    if all(_is_integer(g) and g >= 1 for g in groups):
        return tuple(groups)
    for g, group in enumerate(groups):
        if not _is_list(group) or not group:
            raise WagerError(
                f"{error_prefix}, group {g + 1}: {group!r} is not a list of numbers; "
                "a quick pick must give a size for every group of its selection"
            )
    return tuple(len(group) for group in groups)


def _parse_marked_groups(
    definition: KenoDefinition, groups: Json, error_prefix: str
) -> tuple[tuple[int, ...], ...]:
    """Return the numbers that the player marked in each group; empty for a quick pick. Raises :class:`WagerError`."""
    if _is_integer(groups[0]):
        return ()
    seen_numbers: set[int] = set()
    for g, group in enumerate(groups):
        for number in group:
            if not _is_integer(number) or not 1 <= number <= definition.field.number_count:
                raise WagerError(f"{error_prefix}, group {g + 1}: {number!r} is not on the field")
            if number in seen_numbers:
                raise WagerError(f"{error_prefix}, group {g + 1}: {number} is marked twice")
            seen_numbers.add(number)
    return tuple(tuple(sorted(group)) for group in groups)


def _parse_stakes(requested_stakes: Json, error_prefix: str) -> dict[int, int]:
    """Return a Keno selection's stake for each number of spots. Raises :class:`WagerError`."""
    if not isinstance(requested_stakes, Mapping) or not requested_stakes:
        raise WagerError(f"{error_prefix}, stakes: must map each number of spots played to its stake")
    stake_by_spot_count: dict[int, int] = {}
    for spot_count, stake in requested_stakes.items():
        if not str(spot_count).isdecimal() or not _is_integer(stake):
            raise WagerError(
                f"{error_prefix}, stakes: {spot_count!r} = {stake!r} is not a number of spots and a stake"
            )
        stake_by_spot_count[int(spot_count)] = stake
    return stake_by_spot_count


def _is_integer(value: Json) -> bool:
    """Return whether a JSON value is an integer; a boolean is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list(value: Json) -> bool:
    """Return whether a JSON value is a list."""
    return isinstance(value, list | tuple)
