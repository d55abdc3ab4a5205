"""The common part of card games against the bank: bets on the definition's spots, a shoe, figures by cases."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Generic, Self, TypeVar

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.bank.dealing import read_shoe
from paytables.bank.schema import BankBet, BankDefinition
from paytables.cards.card import SHOE_SIZES
from paytables.contract import DefinitionRemark, DrawSource, RoundEvents, Spot, Wager
from paytables.errors import DefinitionError
from paytables.game import GameFamily
from paytables.layout import (
    TableLayout,
    TableRules,
    WeightedResult,
    analyse_cases,
    check_credit_multiples,
    check_preset_bets,
    find_stated_stakes,
)
from paytables.seating import SeatedRules, list_seat_hands

DefinitionT = TypeVar("DefinitionT", bound=BankDefinition)

#: The hands on the felt, starting with the bank's: id, names by language, and maximum number of cards.
HandDescriptions = tuple[tuple[str, Mapping[str, str], int], ...]
#: The name of the bank's hand, by language.
BANK_NAMES: Mapping[str, str] = {"en": "Bank", "fr": "Banque"}
#: The name of the player's hand, by language.
PLAYER_NAMES: Mapping[str, str] = {"en": "Player", "fr": "Joueur"}


@dataclass(frozen=True)
class BankRules(TableRules, Generic[DefinitionT]):
    """Base class of the rules of card games against the bank; ``table_state`` is the shoe left by earlier rounds."""

    definition: DefinitionT
    """The definition of the game."""
    table_state: object = field(default=None, compare=False)
    """The shoe left by earlier rounds, as the table state stores it."""
    hands: ClassVar[HandDescriptions] = (("bank", BANK_NAMES, 3), ("player", PLAYER_NAMES, 3))
    """The hands drawn on the screen: the id, the names by language, and the largest number of cards."""

    def list_displayed_hands(self) -> HandDescriptions:
        """Return the hands that the table displays, with their names."""
        return self.hands

    @property
    def cards_needed_for_round(self) -> int:
        """Return how many cards must be left at the start of a round, so that the shoe cannot run out during it."""
        return sum(cards_max for _, _, cards_max in self.hands)

    def check_installation(self, file: str) -> None:
        """Refuse a definition whose shoe may run out of cards during a round. Raises :class:`DefinitionError`."""
        super().check_installation(file)
        shoe = self.definition.shoe
        if shoe.round_start_cards_min < self.cards_needed_for_round * shoe.rounds_per_shuffle:
            raise DefinitionError(
                file,
                "shoe",
                f"a round deals up to {self.cards_needed_for_round} cards, and {shoe.rounds_per_shuffle} "
                f"before a shuffle; {shoe.round_start_cards_min} are certain to be in the shoe at its start: "
                "raise shoe.stop or shoe.decks, or lower table.seats",
            )

    def list_bets(self) -> tuple[BankBet, ...]:
        """Return every bet that the definition offers; each family implements it."""
        raise NotImplementedError

    def find_added_stake_factor(self, bet: BankBet) -> int:  # noqa: ARG002
        """Return the most that raises during the round may add to a bet, as a multiple of the bet."""
        return 0

    def list_added_spots(self) -> tuple[Spot, ...]:
        """Return the spots on which a stake can be placed only during the round, by the player's decision."""
        return ()

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play one round; each family implements it."""
        raise NotImplementedError

    def iter_cases(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every possible result of a wager from a fresh shoe, with the player's best decisions."""
        raise NotImplementedError

    def iter_every_case(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every possible result of a wager for every combination of player decisions.

        By default these are :meth:`iter_cases`; a family of games with decisions overrides it.
        """
        return self.iter_cases(wager)

    def find_highest_round_return(self, wager: Wager) -> int:
        """Return the most credits a round can return, stakes and raises included, for any player decisions."""
        return max(
            sum(settlement.credits for settlement in case.settlements) for case in self.iter_every_case(wager)
        )

    @cached_property
    def table_layout(self) -> TableLayout:
        """Return the layout: the betting spots, and the limits of a wager on them."""
        spots = tuple(
            Spot(
                id=bet.id,
                group=bet.id,
                names=bet.name.model_dump(),
                odds=bet.odds.text,
                required_spot=bet.required_spot,
                terms=bet.describe_pay(),
                reserve_per_credit=Fraction(self.find_added_stake_factor(bet)),
                **bet.limits.build_spot_fields(),
            )
            for bet in self.list_bets()
        )
        return TableLayout(
            (*spots, *self.list_added_spots()), self.definition.table, self.definition.preset_bets
        )

    @property
    def shared_state_fields(self) -> frozenset[str]:
        """Return the field of the table state that all players at the table share: the shoe."""
        return frozenset({"shoe"})

    def with_table_state(self, table_state: object) -> Self:
        """Return the rules with the shoe of a stored table state.

        Raises ValueError if no round can leave this shoe.
        """
        if table_state is not None:
            read_shoe(self.definition.shoe, table_state)
        return self.with_table_fields(table_state=table_state)

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the table: the betting spots and the hands."""
        return {
            "kind": "table",
            "felt": "cards",
            **self.table_layout.to_json(),
            "hands": self.describe_hands(),
        }

    def describe_hands(self) -> list[dict[str, object]]:
        """Return the hands that may be on the felt, each with its names and its maximum number of cards."""
        return [
            {"id": hand, "names": dict(names), "cards": cards_max}
            for hand, names, cards_max in self.list_displayed_hands()
        ]

    def explain_pays(self) -> tuple[str, ...]:
        """Return one English sentence for each bet of the table that says what the bet pays."""
        return tuple(self.definition.format_pay_table_rows()["en"])

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return an empty tuple: games against the bank have no remarks."""
        return ()

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of every bet from a fresh shoe.

        A bet is analysed at its minimum and, if rounding makes its return depend on the stake, at the stake with
        the lowest return. A bet that requires another bet is analysed alone; the figures name the required bet.
        """
        bets = tuple(
            self.table_layout.with_required_bets(self.analyse_stakes(name, {bet.id: stake}, depth))
            for bet in self.list_bets()
            for name, stake in find_stated_stakes(bet.id, bet.limits, bet.compute_commission).items()
        )
        header = self.definition.game
        return Analysis(game_id=header.id, version=header.version, family=header.family, bets=bets)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of a wager's combined bets, from a fresh shoe."""
        stakes: dict[str, int] = {}
        for bet in self.build_wager(wager.credits, **wager.options).bets:
            stakes[bet.spot] = stakes.get(bet.spot, 0) + bet.credits
        return self.analyse_stakes("bets", stakes, AnalysisDepth.FULL)

    def analyse_stakes(self, bet_name: str, stakes: Mapping[str, int], depth: AnalysisDepth) -> BetAnalysis:
        """Return the exact figures of the bets of one seat, taken together; ``stakes`` are credits by spot."""
        wager = Wager(sum(stakes.values()), {"bets": dict(stakes)})
        return analyse_cases(bet_name, wager, self.iter_cases(wager), depth)


class SeatedBankRules(SeatedRules, BankRules[DefinitionT]):
    """Base class of the rules of card games in which each seat has its own hand against the bank's."""

    @property
    def cards_needed_for_round(self) -> int:
        """Return the most cards that a round deals: the bank's hand, and a hand for each seat."""
        (_, _, bank_cards), (_, _, seat_cards) = self.hands
        return bank_cards + self.definition.table.seat_count * seat_cards

    def describe_hands(self) -> list[dict[str, object]]:
        """Return the bank's hand and one for each seat, each with its names and its maximum number of cards."""
        (bank_hand_id, bank_names, bank_cards_max), (_, _, cards_max) = self.list_displayed_hands()
        return [
            {"id": bank_hand_id, "names": dict(bank_names), "cards": bank_cards_max},
            *list_seat_hands(self.definition.table.seat_count, cards=cards_max),
        ]


def build_added_spot(bet: BankBet, spot_id: str, names: Mapping[str, str]) -> Spot:
    """Return the betting spot for the amount that a player's decision adds to a bet, with the bet's limits."""
    return Spot(
        id=spot_id,
        group=spot_id,
        names=names,
        odds=bet.odds.text,
        terms=bet.describe_pay(),
        accepts_bets=False,
        required_spot=bet.id,
        added_bet_multiples=("1",),
        **bet.limits.build_spot_fields(),
    )


def check_bets(rules: BankRules[DefinitionT], file: str) -> None:
    """Check the bets of a card game: unique ids, pays in whole credits, and preset bets that the table accepts.

    Raises :class:`DefinitionError`, which names the wrong key.
    """
    bets = rules.list_bets()
    for n, bet in enumerate(bets):
        if bet.id in {earlier.id for earlier in bets[:n]}:
            raise DefinitionError(file, f"bet.{n}.id", f"{bet.id!r} is listed twice")
        check_credit_multiples(f"bet.{n}.limits", bet.limits, bet.list_every_pay(), file)
    check_preset_bets(rules.table_layout, file)


#: The cases that the exact figures of card games against the bank count.
FRESH_SHOE_DEALS: Final = "over the possible deals from a fresh shoe"


def build_bank_family(
    model: type[DefinitionT],
    rules: type[BankRules[DefinitionT]],
    help_figures: frozenset[int] = frozenset(),
    counted_cases: str = FRESH_SHOE_DEALS,
) -> GameFamily[DefinitionT]:
    """Return the family of one kind of card game against the bank, from its definition model and rules."""

    def build(definition: DefinitionT, file: str) -> BankRules[DefinitionT]:
        """Build the rules of a game from its definition, and check its bets."""
        game_rules = rules(definition)
        check_bets(game_rules, file)
        return game_rules

    return GameFamily(model, build, help_figures=help_figures | SHOE_SIZES, counted_cases=counted_cases)
