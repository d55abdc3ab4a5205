"""The settlement of a tournament: final ranks with prizes, refunds, and the share of the fees returned (s. 127)."""

from dataclasses import dataclass
from fractions import Fraction

from egm.features.tournament.prizes import (
    compute_prize_shortfall_cents,
    compute_prizes,
    divide_prizes_of_ties,
    split_cents,
)
from egm.features.tournament.rules import Tournament
from egm.features.tournament.standings import ParticipantStanding, Results, Standings, rank_participants


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentSettlement:
    """The money of a finished tournament, in minor units, and its final ranks."""

    standings: Standings
    prizes_cents: tuple[int, ...]
    """The prize of each participant with a rank, in rank order."""
    entry_count: int
    retained_fees_cents: int
    """The total fee of all entries that were not refunded."""
    refunded_cents: int
    added_cents: int
    """The amount that the venue has added to the prizes; 0 if no participant has a rank."""
    shortfall_cents: int
    """The amount that must still be added so that the prizes are 30 % of the fees, the legal minimum."""

    @property
    def total_cents(self) -> int:
        """Return the sum of all prizes."""
        return sum(self.prizes_cents)

    @property
    def returned_share(self) -> Fraction | None:
        """Return the sum of the prizes as a fraction of the fees; None without fees, or if all were refunded."""
        return Fraction(self.total_cents, self.retained_fees_cents) if self.retained_fees_cents else None

    def list_standings_with_prizes(self) -> list[tuple[ParticipantStanding, int]]:
        """Return each final rank with its prize in minor units."""
        return [*zip(self.standings.participants, self.prizes_cents, strict=True)]


def compute_tournament_settlement(
    rules: Tournament, results: Results, added_cents: int = 0
) -> TournamentSettlement:
    """Return the settlement of a tournament by its rules.

    ``added_cents`` is an amount that the venue adds, divided equally among all ranks. If the prizes are less than 30 %
    of the retained fees, ``shortfall_cents`` of the result is what must still be added. Raises ResultsError if the
    results do not fit the rules.
    """
    standings = rank_participants(rules, results)
    fee_cents = rules.entries.fee_cents
    refunded_cents = len(standings.refunded_entries) * fee_cents
    fees_cents = len(results.entries) * fee_cents - refunded_cents
    ranked_count = len(standings.participants)
    prizes = compute_prizes(rules.prize_plan, fees_cents, ranked_count)
    if ranked_count and added_cents:
        added_shares = split_cents(added_cents, [Fraction(1)] * ranked_count, rules.remainder_rule)
        prizes = [prize + share_cents for prize, share_cents in zip(prizes, added_shares, strict=True)]
    paid_cents = divide_prizes_of_ties(
        prizes, [standing.rank for standing in standings.participants], rules.remainder_rule
    )
    return TournamentSettlement(
        standings=standings,
        prizes_cents=tuple(paid_cents),
        entry_count=len(results.entries),
        retained_fees_cents=fees_cents,
        refunded_cents=refunded_cents,
        added_cents=added_cents if ranked_count else 0,
        shortfall_cents=compute_prize_shortfall_cents(fees_cents, sum(paid_cents)),
    )
