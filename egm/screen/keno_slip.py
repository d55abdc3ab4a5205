"""The player's marks on Keno cards, and the bet request that they make.

The machine registers the bet. The marks are the player's unfinished input, sent to the machine as soon as they form a
valid bet. This module knows no game rules; it only uses the numbers and limits that the game published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from egm.kernel.messages import GameView, Intent, Snapshot

#: One card: its groups of numbers. A card of one group is played as a whole; of several, every combination of
#: groups.
KenoCardMarks = tuple[frozenset[int], ...]
#: A card without marks.
_UNMARKED_CARD: KenoCardMarks = (frozenset(),)


@dataclass(frozen=True, slots=True)
class KenoSlip:
    """A Keno slip as marked by the player. Without marks, it stands for a quick pick."""

    cards: tuple[KenoCardMarks, ...] = (_UNMARKED_CARD,)
    """The cards of the slip. A card is a tuple of groups, each a set of marked numbers."""
    current_card_index: int = 0
    """The index of the card that is being marked."""
    stake_credits_by_card: tuple[int, ...] = ()
    """The stake of each card, in credits; empty if all cards have the same stake."""
    draw_count: int = 1
    """For how many draws the ticket is bought."""
    bonus_ids: tuple[str, ...] = ()
    """The ids of the paid bonuses, which apply to the whole ticket."""

    @property
    def with_first_card_current(self) -> "KenoSlip":
        """Return the slip with its first card as the current card.

        Two slips with the same marks are then equal, whichever card was marked last.
        """
        return replace(self, current_card_index=0)

    def list_card_stakes(self, default_stake_credits: int) -> tuple[int, ...]:
        """Return the stake of each card of the slip, in credits.

        ``default_stake_credits`` is the stake of all cards if the slip has no separate stakes. A card without a stake,
        because it was added later, has the stake of the card before it.
        """
        stakes = self.stake_credits_by_card[: len(self.cards)]
        last_stake = stakes[-1] if stakes else default_stake_credits
        return (*stakes, *(last_stake,) * (len(self.cards) - len(stakes)))

    def with_stake(self, stake_credits: int, default_stake_credits: int) -> "KenoSlip":
        """Return the slip with ``stake_credits`` on the current card.

        If the slip had no separate stakes, its other cards get the stake ``default_stake_credits``.
        """
        stakes = list(self.list_card_stakes(default_stake_credits))
        stakes[self.current_card_index] = stake_credits
        return replace(self, stake_credits_by_card=tuple(stakes) if len(set(stakes)) > 1 else ())

    @property
    def has_marks(self) -> bool:
        """Return whether any number is marked on any card of the slip."""
        return any(group for card in self.cards for group in card)

    @property
    def current_card(self) -> KenoCardMarks:
        """Return the card that is being marked."""
        return self.cards[self.current_card_index]

    @property
    def current_card_numbers(self) -> frozenset[int]:
        """Return the numbers marked on the current card."""
        return frozenset().union(*self.current_card)

    def with_current_card(self, card: KenoCardMarks) -> "KenoSlip":
        """Return the slip with ``card`` in place of the card that is being marked."""
        return replace(
            self,
            cards=(*self.cards[: self.current_card_index], card, *self.cards[self.current_card_index + 1 :]),
        )


# ---------------------------------------------------------------------- what the game offers
def is_keno_game(game: GameView | None) -> bool:
    """Return whether the game is a Keno game, in which the player marks numbers."""
    return game is not None and "tables" in game.presentation and "marks" in game.presentation


def list_permitted_spot_counts(game: GameView) -> tuple[int, ...]:
    """Return how many numbers a player may mark on a Keno card: every permitted count, ascending (M-03)."""
    return tuple(sorted(int(count) for count in game.presentation["tables"]))


def list_permitted_stakes(game: GameView) -> tuple[int, ...]:
    """Return the permitted stakes, in credits, on each way (combination of groups) of a Keno card."""
    return tuple(int(stake) for stake in game.presentation["marks"]["stakes"])


def find_count_limit(game: GameView, limit_name: str) -> int:
    """Return the highest number of cards, groups or draws that a Keno game permits.

    ``limit_name`` says which: ``selections`` (cards on a ticket), ``groups`` (on a card) or ``draws`` (of a ticket).
    """
    return int(game.presentation["marks"][limit_name])


def count_ways_by_spot_count(card: KenoCardMarks) -> dict[int, int]:
    """Return, by number of spots, how many ways a Keno card has.

    A way is a combination of the card's groups; its spots are the numbers in these groups.
    """
    way_count_by_spot_count = {0: 1}
    for group in card:
        for spot_count, way_count in list(way_count_by_spot_count.items()):
            way_count_by_spot_count[spot_count + len(group)] = (
                way_count_by_spot_count.get(spot_count + len(group), 0) + way_count
            )
    return way_count_by_spot_count


def count_paid_ways_by_spot_count(game: GameView, card: KenoCardMarks) -> dict[int, int]:
    """Return, by number of spots, how many ways (combinations of groups) of a Keno card the game pays.

    Empty if the card is not valid.
    """
    if not all(card):
        return {}
    way_count_by_spot_count = {
        spot_count: way_count
        for spot_count, way_count in count_ways_by_spot_count(card).items()
        if spot_count in list_permitted_spot_counts(game)
    }
    smallest, largest = min(map(len, card)), sum(map(len, card))
    is_valid = any(spot_count >= smallest for spot_count in way_count_by_spot_count) and largest >= min(
        list_permitted_spot_counts(game)
    )
    return way_count_by_spot_count if is_valid else {}


def is_valid_slip(game: GameView, slip: KenoSlip) -> bool:
    """Return whether the player's marks make a valid Keno ticket."""
    return all(count_paid_ways_by_spot_count(game, card) for card in slip.cards)


def toggle_number(game: GameView, slip: KenoSlip, number: int) -> KenoSlip:
    """Return the slip with a number marked in the last group of the current card, or unmarked.

    If the number is marked in any group of the card, it is unmarked there; a group that becomes empty is removed,
    except the last one. If the last group is full, the slip is unchanged.
    """
    card = slip.current_card
    if number in slip.current_card_numbers:
        groups = tuple(group - {number} for group in card)
        return slip.with_current_card(tuple(group for group in groups[:-1] if group) + groups[-1:])
    if len(card[-1]) >= max(list_permitted_spot_counts(game)):
        return slip
    return slip.with_current_card((*card[:-1], card[-1] | {number}))


def add_group(game: GameView, slip: KenoSlip) -> KenoSlip:
    """Return the slip with another group of numbers on the current card.

    Return it unchanged if the last group is empty or the game allows no more groups.
    """
    card = slip.current_card
    return (
        slip.with_current_card((*card, frozenset()))
        if card[-1] and len(card) < find_count_limit(game, "groups")
        else slip
    )


def add_card(game: GameView, slip: KenoSlip) -> KenoSlip:
    """Return the slip with another card.

    Return it unchanged if one of its cards is not playable yet, or if the game allows no more cards.
    """
    if not is_valid_slip(game, slip) or len(slip.cards) >= find_count_limit(game, "selections"):
        return slip
    return replace(slip, cards=(*slip.cards, _UNMARKED_CARD), current_card_index=len(slip.cards))


def list_draw_counts_on_offer(game: GameView) -> tuple[int, ...]:
    """Return for how many draws a Keno ticket can be bought: every count on offer, ascending (M-05)."""
    draw_count_max = find_count_limit(game, "draws")
    return tuple(
        sorted(
            {draw_count for draw_count in (1, 2, 3, 4, 5, 10, 20) if draw_count < draw_count_max}
            | {draw_count_max}
        )
    )


def choose_next_draw_count(game: GameView, slip: KenoSlip) -> KenoSlip:
    """Return the slip for the next higher count of draws on offer; after the highest, for the lowest."""
    counts = list_draw_counts_on_offer(game)
    higher_counts = [n for n in counts if n > slip.draw_count]
    return replace(slip, draw_count=higher_counts[0] if higher_counts else counts[0])


def list_bonuses_with_fee(game: GameView) -> dict[str, Mapping[str, Any]]:
    """Return the bonuses of a Keno game that cost a fee, by id."""
    return {str(bonus["id"]): bonus for bonus in game.presentation["bonuses"] if bonus["fee"]}


def toggle_bonus(game: GameView, slip: KenoSlip, bonus_id: str) -> KenoSlip:
    """Return the slip with a paid bonus added or removed. Its bonuses stay in the game's order."""
    chosen_ids = set(slip.bonus_ids) ^ {bonus_id}
    return replace(
        slip, bonus_ids=tuple(bonus_id for bonus_id in list_bonuses_with_fee(game) if bonus_id in chosen_ids)
    )


def _compute_price_factor(game: GameView, bonuses: Sequence[str], draw_count: int) -> int:
    """Return the price of a Keno ticket for each staked credit, with these bonuses and number of draws."""
    return (1 + sum(int(list_bonuses_with_fee(game)[bonus]["fee"]) for bonus in bonuses)) * draw_count


# --------------------------------------------------------------------- preset tickets
def compute_preset_ticket_price(game: GameView, preset_ticket: Mapping[str, Any], stake_credits: int) -> int:
    """Return the price of a preset Keno ticket in credits, if ``stake_credits`` are staked on each card."""
    return (
        stake_credits
        * int(preset_ticket["selections"])
        * _compute_price_factor(game, preset_ticket["bonuses"], int(preset_ticket["draws"]))
    )


def list_preset_ticket_prices(game: GameView, preset_ticket: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the possible prices of a preset ticket, in credits: one for each permitted stake.

    Stakes that make a draw cost more than its maximum are left out.
    """
    draw_cost_max = game.presentation["marks"]["cost"]
    prices_and_draw_counts = (
        (compute_preset_ticket_price(game, preset_ticket, stake), int(preset_ticket["draws"]))
        for stake in list_permitted_stakes(game)
    )
    return tuple(
        price
        for price, draw_count in prices_and_draw_counts
        if draw_cost_max is None or price <= draw_cost_max * draw_count
    )


def find_current_preset_ticket(game: GameView, snapshot: Snapshot) -> Mapping[str, Any]:
    """Return the preset ticket that the current bet buys.

    If the bet names no preset ticket, return the first one with the price of the bet, or else the game's first one.
    """
    tickets = game.presentation["forms"]
    ticket_id = snapshot.bet_wager.get("form")
    matching_tickets = [ticket for ticket in tickets if ticket["id"] == ticket_id] or [
        ticket for ticket in tickets if snapshot.bet_credits in list_preset_ticket_prices(game, ticket)
    ]
    return next(iter(matching_tickets or tickets))


def list_preset_tickets_on_offer(game: GameView) -> list[Mapping[str, Any]]:
    """Return the preset tickets of a Keno game that can be bought; the game publishes them as ``forms``."""
    return [ticket for ticket in game.presentation["forms"] if list_preset_ticket_prices(game, ticket)]


def compute_current_preset_ticket_price(
    game: GameView, preset_ticket: Mapping[str, object], snapshot: Snapshot
) -> int:
    """Return the price of a preset ticket, in credits, if each of its cards has the stake of the current bet.

    The stake thus stays the same when the player changes to another preset ticket. If the price would be higher than
    the ticket's highest price, return the highest price.
    """
    current_ticket = find_current_preset_ticket(game, snapshot)
    stake, remainder = divmod(snapshot.bet_credits, compute_preset_ticket_price(game, current_ticket, 1))
    if remainder or stake not in list_permitted_stakes(game) or "selections" in snapshot.bet_wager:
        stake = find_current_stake(snapshot, game)
    return min(
        compute_preset_ticket_price(game, preset_ticket, stake),
        max(list_preset_ticket_prices(game, preset_ticket)),
    )


def build_preset_ticket_choice_requests(
    game: GameView, snapshot: Snapshot, ticket_id: str | None = None
) -> tuple[Intent, ...]:
    """Return the request to bet on the preset ticket ``ticket_id`` at the current stake.

    Without ``ticket_id``, request the preset ticket on offer after the current one; after the last, the first.
    """
    tickets = list_preset_tickets_on_offer(game)
    start_id = find_current_preset_ticket(game, snapshot)["id"] if ticket_id is None else ticket_id
    index = next((n for n, ticket in enumerate(tickets) if ticket["id"] == start_id), -1)
    ticket = tickets[(index + (1 if ticket_id is None else 0)) % len(tickets)]
    return (build_preset_ticket_request(ticket, compute_current_preset_ticket_price(game, ticket, snapshot)),)


def build_preset_ticket_request(preset_ticket: Mapping[str, object], price_credits: int) -> Intent:
    """Return the request to bet ``price_credits`` on a preset ticket."""
    return Intent(name="bet", value=price_credits, options={"form": preset_ticket["id"]})


def compute_slip_price(game: GameView, slip: KenoSlip, stake_credits: int) -> int:
    """Return the price of the slip's ticket in credits: all ways of its cards, bonuses and draws.

    ``stake_credits`` is the stake of each card if the slip has no separate stakes.
    """
    cards_and_stakes = zip(slip.cards, slip.list_card_stakes(stake_credits), strict=True)
    ways_price = sum(
        sum(count_paid_ways_by_spot_count(game, card).values()) * stake for card, stake in cards_and_stakes
    )
    return ways_price * _compute_price_factor(game, slip.bonus_ids, slip.draw_count)


def build_slip_bet_requests(game: GameView, slip: KenoSlip, stake_credits: int) -> tuple[Intent, ...]:
    """Return the request to the machine for a Keno ticket with the player's marks.

    Without marks, it requests the game's first preset ticket, a quick pick, at its lowest price. If the marks make no
    valid ticket, return an empty tuple.
    """
    if not slip.has_marks:
        ticket = game.presentation["forms"][0]
        return (build_preset_ticket_request(ticket, min(list_preset_ticket_prices(game, ticket))),)
    if not is_valid_slip(game, slip):
        return ()
    options: dict[str, object] = {
        "selections": [
            {
                "groups": [sorted(group) for group in card],
                "stakes": {
                    str(spot_count): card_stake
                    for spot_count in sorted(count_paid_ways_by_spot_count(game, card))
                },
            }
            for card, card_stake in zip(slip.cards, slip.list_card_stakes(stake_credits), strict=True)
        ]
    }
    if slip.draw_count > 1:
        options["draws"] = slip.draw_count
    if slip.bonus_ids:
        options["bonuses"] = list(slip.bonus_ids)
    return (Intent(name="bet", value=compute_slip_price(game, slip, stake_credits), options=options),)


def find_current_stake(snapshot: Snapshot, game: GameView) -> int:
    """Return the stake of the current ticket's first card, in credits.

    Without a marked card, return the cost of the bet if it is a permitted stake, or else the lowest stake.
    """
    permitted_stakes = list_permitted_stakes(game)
    selections = snapshot.bet_wager.get("selections", ())
    stakes = [stake for selection in selections for stake in selection.get("stakes", {}).values()]
    return next(
        (int(stake) for stake in (*stakes, snapshot.bet_credits) if stake in permitted_stakes),
        min(permitted_stakes),
    )


def build_slip_from_wager(wager: Mapping[str, Any]) -> KenoSlip:
    """Return a slip with the numbers that a bet is on; for a quick-pick bet, a slip without marks."""
    cards, stakes = [], []
    for selection in wager.get("selections", ()):
        groups = selection.get("groups", ())
        if not groups or not all(isinstance(group, list | tuple) for group in groups):
            return KenoSlip()
        cards.append(tuple(frozenset(map(int, group)) for group in groups))
        stakes.append(next(iter(selection["stakes"].values())))
    if not cards:
        return KenoSlip()
    separate_stakes = tuple(stakes) if len(set(stakes)) > 1 else ()
    return KenoSlip(tuple(cards), 0, separate_stakes, wager.get("draws", 1), tuple(wager.get("bonuses", ())))
