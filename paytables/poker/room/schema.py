"""The model of the definition of a poker room's game: what is dealt, what is bet, and the commission."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from paytables.cards.ranking import FIVE_CARD_RANKING
from paytables.contract import TimeToAct
from paytables.definition import NaturalInt, PositiveInt, StrictTable, Text
from paytables.layout import BetLimits, TableDefinition
from paytables.poker.pays import CATEGORY_NAMES
from paytables.poker.room.betting import BetSizes, LimitKind
from paytables.poker.room.pots import CommissionRules
from paytables.wording import format_count

#: The id of the spot of the table stakes.
STACK_SPOT: Final = "stack"
#: The longest period of a charge for the time played, in minutes.
TIME_CHARGE_MINUTES_MAX: Final = 240
#: The shortest and the longest time for a decision, and the largest time bank, in seconds.
TIME_TO_ACT_SECONDS_MIN: Final = 5
TIME_TO_ACT_SECONDS_MAX: Final = 120
TIME_BANK_SECONDS_MAX: Final = 600
#: The highest commission on a pot, in percent (Québec by-law, s. 67.108).
COMMISSION_PERCENT_MAX: Final = 10
#: Cards of a pack.
_DECK_CARD_COUNT: Final = 52


class RoundDeal(StrictTable):
    """The cards dealt before one betting round (``[[deal]]``): to each player, and to the shared board."""

    face_down_count: NaturalInt = Field(
        default=0, description="cards dealt face down to each player", alias="hole"
    )
    """The number of cards dealt face down to each player."""
    face_up_count: NaturalInt = Field(
        default=0, description="cards dealt face up to each player, after those face down", alias="up"
    )
    """The number of cards dealt face up to each player, after the cards dealt face down."""
    board_card_count: NaturalInt = Field(default=0, description="cards dealt face up for all", alias="board")
    """The number of cards dealt face up to the shared board."""


class Stack(StrictTable):
    """The table stakes that a player may bring into a game (``[stack]``, ss. 67.94, 67.95)."""

    name: Text
    limits: BetLimits
    """The smallest and the largest table stakes."""


class ForcedBets(StrictTable):
    """The forced bets (``[forced]``, s. 67.88, 9 to 11): an ante from all players, and blinds or a bring-in.

    The two seats left of the button pay the blinds. The player with the lowest face-up card pays the bring-in.
    """

    small_blind: PositiveInt | None = Field(default=None, alias="small")
    """The small blind, in credits."""
    big_blind: PositiveInt | None = Field(default=None, alias="big")
    """The big blind, in credits."""
    bring_in: PositiveInt | None = None
    """The bet that the player with the lowest face-up card must make, in credits."""
    ante: NaturalInt = 0
    """The ante that every player pays, in credits; 0: none."""

    @model_validator(mode="after")
    def _check_blinds(self) -> Self:
        """Refuse a definition with both blinds and a bring-in, or with neither."""
        if (self.small_blind is None) != (self.big_blind is None) or (self.big_blind is None) == (
            self.bring_in is None
        ):
            raise ValueError("forced bets must be either `small` and `big`, or `bring_in`")
        if self.small_blind is not None and self.small_blind > self.first_call_credits:
            raise ValueError(f"small: {self.small_blind} is above the big blind of {self.first_call_credits}")
        return self

    @property
    def first_call_credits(self) -> int:
        """Return what a player must call in the first betting round: the big blind or the bring-in."""
        return self.big_blind or self.bring_in or 0


class BetLimit(StrictTable):
    """The limit of bets and raises (``[limit]``): ``fixed``, ``spread``, ``pot`` or ``none``.

    At a spread limit, bets and raises are at least the big blind.
    """

    kind: LimitKind
    """The kind of limit: ``fixed``, ``spread``, ``pot`` or ``none``."""
    round_bet_sizes: tuple[PositiveInt, ...] = Field(default=(), alias="bets")
    """At a fixed limit, the size of the bets of each betting round, in credits."""
    bet_max: PositiveInt | None = Field(default=None, alias="most")
    """At a spread limit, the largest bet or raise, in credits."""
    raises_max: PositiveInt | None = Field(
        default=None,
        description="the most bets and raises in a betting round, excluding forced bets",
        alias="raises",
    )
    """The largest number of bets and raises in a betting round, excluding forced bets; None: no limit."""


class PotCommission(StrictTable):
    """The commission (``[commission]``, s. 67.108): a percentage of each pot, limited for each game.

    A game that ends before the betting round ``from_round`` pays none.
    """

    percent: Annotated[int, Field(strict=True, ge=1, le=COMMISSION_PERCENT_MAX)]
    """The commission, in per cent of each pot."""
    commission_max_credits: PositiveInt = Field(alias="most")
    """The largest commission on one game, in credits."""
    first_round_number: PositiveInt = Field(default=1, alias="from_round")
    """The number of the first betting round for which a commission is due; a game that ends earlier pays none."""


class TimeChargeTerms(StrictTable):
    """The charge for the time played (``[time_charge]``, s. 67.108), which each player pays for every period."""

    credits: PositiveInt
    """The credits that each player pays for a period."""
    minutes: Annotated[int, Field(strict=True, ge=1, le=TIME_CHARGE_MINUTES_MAX)]
    """The length of the period, in minutes."""


class TimeToActTerms(StrictTable):
    """The time to act (``[time_to_act]``): seconds for each decision, and a time bank for longer decisions."""

    seconds: Annotated[int, Field(strict=True, ge=TIME_TO_ACT_SECONDS_MIN, le=TIME_TO_ACT_SECONDS_MAX)]
    """The seconds that a player has for each decision."""
    bank_seconds: Annotated[int, Field(strict=True, ge=0, le=TIME_BANK_SECONDS_MAX)] = 0
    """The player's time bank: reserve seconds for decisions that take longer."""


class RoomDefinition(TableDefinition):
    """A game of poker between players as its definition file describes it: deals, stakes, forced bets and limit."""

    deals: Annotated[tuple[RoundDeal, ...], Field(min_length=1)] = Field(alias="deal")
    """The cards dealt before each betting round."""
    required_hole_card_count: Literal[2] | None = Field(
        default=None,
        description="how many hole cards every hand must use; absent: the best of all cards",
        alias="uses",
    )
    """The number of hole cards that every hand must use; None: any number, whichever makes the best hand."""
    stack: Stack
    """The table stakes that a player may bring into a game."""
    forced_bets: ForcedBets = Field(alias="forced")
    """The forced bets: an ante, and blinds or a bring-in."""
    bet_limit: BetLimit = Field(alias="limit")
    """The limit of bets and raises."""
    commission: PotCommission
    """The commission on each pot."""
    time_charge: TimeChargeTerms | None = Field(
        default=None, description="what each player pays for the time played; absent: nothing"
    )
    """What each player pays for the time played; None: nothing."""

    time_to_act: TimeToActTerms | None = Field(
        default=None, description=f"the time for a decision; absent: {TimeToAct().seconds} s and no time bank"
    )
    """The time for a decision; None: the usual time and no time bank."""

    @model_validator(mode="after")
    def _check_seats_and_cards(self) -> Self:
        """Refuse a table with one seat, more than one denomination, and deals that cannot be played.

        Deals cannot be played if they need more cards than a pack has, give too few cards for a hand, or do not suit
        the bring-in.
        """
        seat_count, player_card_count, board_card_count = (
            self.table.seat_count,
            self.player_card_count,
            self.board_card_count,
        )
        if seat_count < 2:
            raise ValueError(f"table.seats: expected 2 or more, not {seat_count}")
        if len(self.game.denominations_cents) > 1:
            raise ValueError(
                "game.denominations_cents: only one is allowed, because the players' credits are in one pot"
            )
        if seat_count * player_card_count + board_card_count > _DECK_CARD_COUNT:
            raise ValueError(
                f"deal: {seat_count} seats need {seat_count * player_card_count + board_card_count} cards of "
                f"{_DECK_CARD_COUNT}"
            )
        if not self.deals[0].face_down_count or any(deal.face_up_count for deal in self.deals) != (
            self.forced_bets.bring_in is not None
        ):
            raise ValueError(
                "deal: the first step must deal a hole card to each player, and cards face up go with a bring-in"
            )
        if self.forced_bets.bring_in is not None and self.deals[0].face_up_count != 1:
            raise ValueError(f"deal.0.up: must be 1 with a bring-in, not {self.deals[0].face_up_count}")
        if player_card_count + board_card_count < FIVE_CARD_RANKING.hand_size or (
            self.required_hole_card_count
            and (
                player_card_count < self.required_hole_card_count
                or board_card_count < FIVE_CARD_RANKING.hand_size - self.required_hole_card_count
            )
        ):
            raise ValueError(
                f"deal: {player_card_count} hole cards and {board_card_count} on the board make no hand of "
                f"{FIVE_CARD_RANKING.hand_size}"
            )
        return self

    @model_validator(mode="after")
    def _check_bets(self) -> Self:
        """Refuse forced bets and bet limits that contradict each other."""
        forced, limit, stack = self.forced_bets, self.bet_limit, self.stack.limits
        if stack.bet_min < forced.first_call_credits + forced.ante:
            raise ValueError(
                f"stack.limits.least: {stack.bet_min} does not cover the forced bets of "
                f"{forced.first_call_credits + forced.ante}"
            )
        is_fixed, is_spread = limit.kind == "fixed", limit.kind == "spread"
        if is_fixed != bool(limit.round_bet_sizes) or is_spread != (limit.bet_max is not None):
            raise ValueError(
                "limit: a fixed limit must have `bets`, a spread limit must have `most`, and no other may have them"
            )
        if is_fixed and (
            len(limit.round_bet_sizes) != len(self.deals)
            or forced.first_call_credits > limit.round_bet_sizes[0]
        ):
            raise ValueError(
                f"limit.bets: expected one for each of the {len(self.deals)} "
                "betting rounds, the first at least the forced bet"
            )
        if is_fixed and forced.big_blind is not None and limit.round_bet_sizes[0] != forced.big_blind:
            raise ValueError(f"limit.bets: the first must be the big blind, {forced.big_blind}")
        if not is_fixed and forced.bring_in is not None:
            raise ValueError('forced.bring_in: is only valid with a limit of kind "fixed"')
        if limit.bet_max is not None and limit.bet_max < forced.first_call_credits:
            raise ValueError(
                f"limit.most: {limit.bet_max} is below the big blind of {forced.first_call_credits}"
            )
        if self.commission.first_round_number > len(self.deals):
            raise ValueError(f"commission.from_round: there are {len(self.deals)} betting rounds")
        return self

    @property
    def player_card_count(self) -> int:
        """Return the number of cards of each player at the end of a game, those face up included."""
        return sum(deal.face_down_count + deal.face_up_count for deal in self.deals)

    @property
    def board_card_count(self) -> int:
        """Return the number of cards on the board at the end of a game."""
        return sum(deal.board_card_count for deal in self.deals)

    @property
    def commission_rules(self) -> CommissionRules:
        """Return the commission on a game's pots."""
        return CommissionRules(self.commission.percent, self.commission.commission_max_credits)

    def find_bet_sizes(self, round_index: int) -> BetSizes:
        """Return the permitted sizes of bets and raises in betting round ``round_index``; the first round is 0."""
        limit = self.bet_limit
        bet_min = (
            limit.round_bet_sizes[round_index]
            if limit.round_bet_sizes
            else self.forced_bets.first_call_credits
        )
        bet_max = bet_min if limit.kind == "fixed" else limit.bet_max
        return BetSizes(limit.kind, bet_min, bet_max, limit.raises_max)

    def format_terms(self) -> Mapping[str, str]:
        """Return, by language, the text that says what the table stakes can win: the pots less the commission."""
        percent = self.commission.percent
        return {
            "en": f"the pots that it wins, less {percent}%",
            "fr": f"les cagnottes gagnées, moins {percent} %",
        }

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return the order of the hands, the forced bets, the limit and the commission, as text by language."""
        return {language: [*_format_rows(self, language)] for language in ("en", "fr")}


def _format_rows(definition: RoomDefinition, language: str) -> Sequence[str]:
    """Return the paragraphs of the pay table in one language."""
    category_names = ", ".join(
        CATEGORY_NAMES[category][language == "fr"] for category in FIVE_CARD_RANKING.categories
    )
    commission = definition.commission
    limit_text = _format_limit(definition, language)
    stack = definition.stack.limits
    time_charge_lines = (
        () if definition.time_charge is None else (_format_time_charge(definition.time_charge, language),)
    )
    time_to_act_lines = (
        () if definition.time_to_act is None else (_format_time_to_act(definition.time_to_act, language),)
    )
    forced_bets_text = _format_forced_bets(definition.forced_bets, language)
    if language == "fr":
        return (
            f"Mains, de la plus forte à la plus faible : {category_names}",
            (
                f"En crédits : avoir de {_format_thousands(stack.bet_min)} à {_format_thousands(stack.bet_max)} ; "
                f"{forced_bets_text}"
            ),
            limit_text,
            (
                f"Commission : {commission.percent} % de chaque cagnotte, en crédits entiers ; "
                f"{commission.commission_max_credits} au plus"
            ),
            *time_charge_lines,
            *time_to_act_lines,
        )
    return (
        f"Hands, highest first: {category_names}",
        f"In credits: table stakes of {stack.bet_min:,} to {stack.bet_max:,}; {forced_bets_text}",
        limit_text,
        (
            f"Commission: {commission.percent}% of each pot, in whole credits; "
            f"at most {commission.commission_max_credits} of a game"
        ),
        *time_charge_lines,
        *time_to_act_lines,
    )


def _format_time_to_act(terms: TimeToActTerms, language: str) -> str:
    """Return the sentence on the time for a decision and the time bank."""
    if language == "fr":
        bank = f" ; de plus, une réserve de {terms.bank_seconds} s par joueur" if terms.bank_seconds else ""
        return f"Temps pour chaque décision : {terms.seconds} s{bank}"
    bank = (
        f"; in addition, a time bank of {terms.bank_seconds} s for each player" if terms.bank_seconds else ""
    )
    return f"Time for each decision: {terms.seconds} s{bank}"


def _format_time_charge(charge: TimeChargeTerms, language: str) -> str:
    """Return the sentence on the charge for the time played."""
    if language == "fr":
        noun = "crédit" if charge.credits == 1 else "crédits"
        return (
            f"Commission pour le temps de jeu : {_format_thousands(charge.credits)} {noun} de chaque joueur, "
            f"au début d'une partie, pour {charge.minutes} min"
        )
    return (
        f"Charge for the time played: {format_count(charge.credits, 'credit')} of each player, when a game starts, "
        f"for {charge.minutes} min"
    )


def _format_forced_bets(forced: ForcedBets, language: str) -> str:
    """Return the forced bets as text, in credits."""
    if language == "fr":
        ante = f"mise initiale {forced.ante}, " if forced.ante else ""
        bring_in = f"mise imposée {forced.bring_in}"
        return ante + (
            bring_in
            if forced.big_blind is None
            else f"à l'aveuglette {forced.small_blind} et {forced.big_blind}"
        )
    ante = f"ante {forced.ante}, " if forced.ante else ""
    return ante + (
        f"forced bet {forced.bring_in}"
        if forced.big_blind is None
        else f"blind bets {forced.small_blind} and {forced.big_blind}"
    )


def _format_thousands(number: int) -> str:
    """Return a number as text with its thousands separated by spaces, as in French."""
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _format_limit(definition: RoomDefinition, language: str) -> str:
    """Return the sentence on the sizes of bets and raises, in credits."""
    limit, big_blind = definition.bet_limit, definition.forced_bets.first_call_credits
    bets = ", ".join(map(str, limit.round_bet_sizes))
    english, french = {
        "fixed": (f"Fixed limit: bets and raises of {bets}", f"Limite fixe : mises et relances de {bets}"),
        "spread": (
            f"Spread limit: bets and raises of {big_blind} to {limit.bet_max}",
            f"Limite étagée : mises et relances de {big_blind} à {limit.bet_max}",
        ),
        "pot": (
            f"Pot limit: bets from {big_blind} to the pot",
            f"Cagnotte limite : mises de {big_blind} à la cagnotte",
        ),
        "none": (
            f"No limit: bets from {big_blind} to all table stakes",
            f"Sans limite : mises de {big_blind} à tout l'avoir",
        ),
    }[limit.kind]
    return french if language == "fr" else english
