"""The model of a pai gow poker definition: the stake, the side bets, how the bank sets its cards."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from paytables.cards import RANK_LETTERS, parse_cards
from paytables.definition import NaturalInt, StrictTable
from paytables.layout import BetLimits, Odds, WrittenOdds
from paytables.poker.two_hands import TwoHandsDefinition, WinPushLoseChances

#: The sizes of the sets (equal ranks) among seven cards, the largest first, the joker an ace: two pairs are
#: ``2-2``.
SetSizes = Literal["", "2", "2-2", "2-2-2", "3", "3-2", "3-2-2", "3-3", "4", "4-2", "4-3", "5", "5-2"]
#: Ranks of the sets of a hand, as letters.
RankLetters = Annotated[str, StringConstraints(pattern=f"^[{RANK_LETTERS}]{{1,3}}$")]


class HouseWayLine(StrictTable):
    """A line of the house way, which states how the bank must set its cards as a low and a high hand.

    A line applies to cards with certain sets (pairs, threes, fours) of certain ranks. Among the settings that
    it allows, the one with the best low hand is chosen.
    """

    set_sizes: tuple[SetSizes, ...] = Field(default=(), alias="shapes")
    """The combinations of pairs, threes and fours to which the line applies; empty: to any cards."""
    highest_ranks: RankLetters | None = Field(default=None, alias="most")
    """The highest rank that each pair, three or four may have, in the order of ``set_sizes``; None: any."""
    lowest_ranks: RankLetters | None = Field(default=None, alias="least")
    """The lowest rank that each pair, three or four may have, in the order of ``set_sizes``; None: any."""
    lowest_high_hand: str | None = Field(default=None, alias="high")
    """The lowest permitted high hand, as cards; None: any."""
    lowest_low_hand: str | None = Field(default=None, alias="low")
    """The lowest permitted low hand, as cards; None: any."""

    @model_validator(mode="after")
    def _check_consistency(self) -> "HouseWayLine":
        """Refuse a low hand of the house way that is not two cards, or a high hand that is not five."""
        for cards, count in ((self.lowest_high_hand, 5), (self.lowest_low_hand, 2)):
            if cards is not None and len(parse_cards(cards)) != count:
                raise ValueError(f"{cards!r}: expected {count} different cards")
        return self


class UndealtTotalBets(StrictTable):
    """Side bets of pai gow poker on the total of the undealt cards (s.48), with the points that each card counts."""

    compared_total: NaturalInt = Field(default=26, alias="total")
    """The number of points that the undealt cards are compared with: they total under, over or exactly this."""
    limits: BetLimits = BetLimits(least=2, most=200, step=2)
    required_spot: Literal["stake"] | None = Field(
        None, description="the bet that must be placed with this one", alias="needs"
    )
    """The id of the bet that must be placed together with each of these side bets; None: no other bet is needed."""
    ace_points: NaturalInt = Field(default=1, alias="ace")
    """The points that an ace counts."""
    face_points: NaturalInt = Field(default=10, alias="face")
    """The points that a jack, queen or king counts."""
    joker_points: NaturalInt = Field(default=1, alias="joker")
    """The points that the joker counts."""
    under_odds: WrittenOdds = Field(alias="under")
    """The odds of the bet that the total is lower than ``compared_total``."""
    over_odds: WrittenOdds = Field(alias="over")
    """The odds of the bet that the total is higher than ``compared_total``."""
    exact_odds: WrittenOdds = Field(alias="exactly")
    """The odds of the bet on exactly this total."""

    @property
    def bets(self) -> dict[str, tuple[Odds, dict[str, str]]]:
        """Return the odds and the name of each side bet on the total of the undealt cards, by spot."""
        n = self.compared_total
        return {
            "under": (self.under_odds, {"en": f"Under {n}", "fr": f"Moins de {n}"}),
            "exactly": (self.exact_odds, {"en": f"Exactly {n}", "fr": f"{n} exactement"}),
            "over": (self.over_odds, {"en": f"Over {n}", "fr": f"Plus de {n}"}),
        }


class PositionBet(StrictTable):
    """Side bets on the deal position that gets the first cards, which a random number determines (s.48.1)."""

    limits: BetLimits = BetLimits(least=2, most=200, step=2)
    required_spot: Literal["stake"] | None = Field(
        None, description="the bet that must be placed with this one", alias="needs"
    )
    """The id of the bet that must be placed together with this side bet; None: no other bet is needed."""
    odds: WrittenOdds = Field(alias="pays")
    """The odds of the bet."""


class ProvedFigures(WinPushLoseChances):
    """Exact figures of a pai gow poker game: the probabilities if the player sets cards as the bank does."""

    best_setting_chances: WinPushLoseChances = Field(alias="best")
    """The probabilities if the player chooses the best setting of every hand."""


class PaiGowPokerDefinition(TwoHandsDefinition):
    """The definition of a pai gow poker game: its stake, its side bets and the house way."""

    house_way_lines: Annotated[tuple[HouseWayLine, ...], Field(min_length=1)] = Field(alias="house")
    """The house way: how the bank must divide its seven cards. The first line that fits the cards applies."""
    undealt_total_bets: UndealtTotalBets | None = Field(default=None, alias="remaining")
    """The side bets on the total of the undealt cards; None: not offered."""
    position_bet: PositionBet | None = Field(default=None, alias="position")
    """The side bets on the deal position that gets the first cards; None: not offered."""
    proved: ProvedFigures | None = Field(None, description="written by `python -m tools.dev prove`")
    """The stored exact figures of the game; None: not stored."""

    @model_validator(mode="after")
    def _check_last_house_line(self) -> "PaiGowPokerDefinition":
        """Refuse a house way without a final line that sets every possible hand."""
        if self.house_way_lines[-1] != HouseWayLine():
            raise ValueError(
                "house: the last line must have no key, because it is for the hands that fit no other line"
            )
        return self

    def format_pay_table_rows(self) -> dict[str, list[str]]:
        """Return what the side bets pay, as text by language."""
        bets = [] if self.undealt_total_bets is None else list(self.undealt_total_bets.bets.values())
        if self.position_bet is not None:
            bets.append(
                (self.position_bet.odds, {"en": "The first position", "fr": "Le premier emplacement"})
            )
        colons = {"en": ":", "fr": " :"}
        return {
            language: [
                f"{names[language]}{colon} {odds.format_by_language()[language]}." for odds, names in bets
            ]
            for language, colon in colons.items()
        }
