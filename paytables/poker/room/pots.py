"""The pots of one game of poker between players: main and side pots, the commission, and each winner's share.

A player who is all in has a part in each pot that they bet for (Québec by-law, s. 67.96). A pot is divided between
equal hands in whole credits; the odd credits go to the first winners left of the button.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from paytables.contract import Bet, Settlement
from paytables.layout import settle_bet
from paytables.poker.room.betting import Player

#: The settlement of the table stakes that were not bet, or whose bet nobody called.
NOT_PLAYED_SETTLEMENT_NAME: Final = "not played"


@dataclass(frozen=True, slots=True)
class Pot:
    """The main pot or a side pot: its credits, the commission taken from it, and the seats that can win it."""

    credits: int
    """The credits in the pot, the commission included."""
    seats: tuple[int, ...]
    """The seats that can win the pot."""
    commission_credits: int = 0
    """The credits that the house takes from the pot."""

    @property
    def net_credits(self) -> int:
        """Return the credits of the pot less the commission, which are awarded to the winners."""
        return self.credits - self.commission_credits


@dataclass(frozen=True, slots=True)
class CommissionRules:
    """The commission on a game's pots: a percentage of each pot in whole credits, up to a largest amount per game."""

    percent: int
    """The commission, in per cent of each pot."""
    commission_max_credits: int
    """The largest commission on one game, in credits."""

    def deduct_commission(self, pots: Sequence[Pot]) -> tuple[Pot, ...]:
        """Return the pots with the commission taken from each, the main pot first."""
        commission_credits_left, pots_after = self.commission_max_credits, []
        for pot in pots:
            commission_credits = min(pot.credits * self.percent // 100, commission_credits_left)
            commission_credits_left -= commission_credits
            pots_after.append(Pot(pot.credits, pot.seats, commission_credits))
        return tuple(pots_after)


def build_pots(bet_credits_by_seat: Mapping[int, int], unfolded_seats: Collection[int]) -> tuple[Pot, ...]:
    """Return the main pot and the side pots. Uncalled bets must have been returned before.

    ``bet_credits_by_seat`` has the credits that each seat has bet in the game; ``unfolded_seats`` are the seats that
    have not folded. A pot ends at each level up to which such a seat has bet: if three seats have bet 10, 30 and 30,
    the main pot is 3 x 10 credits, and the side pot 2 x 20.
    """
    pots, bet_level_below = [], 0
    for bet_level in sorted(
        {bet_credits_by_seat[seat] for seat in unfolded_seats if bet_credits_by_seat[seat]}
    ):
        credits_ = sum(
            min(total, bet_level) - min(total, bet_level_below) for total in bet_credits_by_seat.values()
        )
        pots.append(
            Pot(
                credits_,
                tuple(
                    seat
                    for seat in bet_credits_by_seat
                    if seat in unfolded_seats and bet_credits_by_seat[seat] >= bet_level
                ),
            )
        )
        bet_level_below = bet_level
    return tuple(pots)


def divide_pot(pot_credits: int, winning_seats: Sequence[int]) -> dict[int, int]:
    """Return each winner's share of a pot; odd credits go one each to the first winners, in the order given."""
    share, odd_credits = divmod(pot_credits, len(winning_seats))
    return {seat: share + (n < odd_credits) for n, seat in enumerate(winning_seats)}


@dataclass(frozen=True, slots=True)
class PotShare:
    """The credits that one seat receives from the pots, and its part of the commission on them."""

    credits: int = 0
    """The credits that the seat receives."""
    commission_credits: int = 0
    """The seat's part of the commission, in credits."""


def award_pots(
    pots: Sequence[Pot], strength_by_seat: Mapping[int, int], seat_order: Sequence[int]
) -> Mapping[int, PotShare]:
    """Return what each winning seat receives: each pot goes to the best hand among the seats that bet for it.

    ``strength_by_seat`` has the strength of the hand of each seat that has not folded. ``seat_order`` has all seats,
    the first one left of the button first.
    """
    award_by_seat: dict[int, PotShare] = {}
    for pot in pots:
        best_strength = max(strength_by_seat[seat] for seat in pot.seats)
        winners = [
            seat for seat in seat_order if seat in pot.seats and strength_by_seat[seat] == best_strength
        ]
        gross_shares, net_shares = divide_pot(pot.credits, winners), divide_pot(pot.net_credits, winners)
        for seat in winners:
            earlier_share = award_by_seat.get(seat, PotShare())
            commission_credits = earlier_share.commission_credits + gross_shares[seat] - net_shares[seat]
            award_by_seat[seat] = PotShare(earlier_share.credits + net_shares[seat], commission_credits)
    return award_by_seat


def settle_stack(bet: Bet, player: Player, award: PotShare | None) -> Iterator[Settlement]:
    """Yield how the table stakes of a seat are settled.

    The credits that were not bet are returned. The bets win ``award``, the seat's part of the pots, or are lost if it
    is None.
    """
    if player.unbet_credits:
        yield Settlement(
            NOT_PLAYED_SETTLEMENT_NAME,
            player.unbet_credits,
            spot=bet.spot,
            staked_credits=player.unbet_credits,
            seat=bet.seat,
        )
    if not player.total_bet_credits:
        return
    if award is None:
        played_bet = Bet(bet.spot, player.total_bet_credits, bet.seat)
        yield settle_bet(played_bet, None, "folded" if player.is_folded else "")
        return
    detail = {"commission": award.commission_credits} if award.commission_credits else {}
    yield Settlement("won", award.credits, detail, bet.spot, player.total_bet_credits, bet.seat)
