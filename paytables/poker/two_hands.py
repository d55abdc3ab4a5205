"""The common part of pai gow games, in which a player sets a low and a high hand against the bank's two hands."""

from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar, Final, NamedTuple, Self

from pydantic import Field, model_validator

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis, PrizeFigures
from paytables.commission import Commission
from paytables.contract import (
    Bet,
    Choice,
    Cue,
    Decision,
    DefinitionRemark,
    DrawSource,
    Json,
    Outcome,
    RoundEvent,
    RoundEvents,
    Settlement,
    Spot,
    Wager,
    draw_and_remove_element,
)
from paytables.definition import StrictTable, Text
from paytables.errors import DefinitionError
from paytables.layout import (
    BetLimits,
    TableDefinition,
    TableLayout,
    build_distribution,
    check_preset_bets,
    find_stated_stakes,
)
from paytables.player_bank import (
    BANK_SPOT,
    FIRST_BANK_TURN,
    STAKE_SPOT,
    BankTurn,
    PlayerBank,
    PlayerBankRules,
)
from paytables.poker.proof import FractionText, check_stored_proof
from paytables.seating import can_see_seat_cards, describe_owner, format_hand_id, list_seat_hands

#: The spot on which the stake lies.
PLAYER_STAKE_SPOT: Final = STAKE_SPOT
#: The option by which the player gives the hand up.
SURRENDER_OPTION: Final = "surrender"
#: The number of pieces (cards or tiles) in the low hand.
_LOW_HAND_PIECE_COUNT: Final = 2


class HandSetting(NamedTuple):
    """One division of a hand into a low and a high hand."""

    low_strength: int
    """The strength of the low hand."""
    high_strength: int
    """The strength of the high hand."""
    low_mask: int
    """The low hand: bit n is set if the dealt card or tile with index n belongs to it."""


def _describe_pay(commission: Commission) -> dict[str, str]:
    """Return what a winning bet pays after the commission, as text by language."""
    return {language: f"1:1, {text}" for language, text in commission.describe().items()}


class WinPushLoseChances(StrictTable):
    """The probabilities that a pai gow stake is won, returned and lost, as exact fractions in text form."""

    win: FractionText
    """The probability that the stake wins."""
    push: FractionText
    """The probability that the stake is returned."""
    lose: FractionText
    """The probability that the stake is lost."""


class TwoHandsDefinition(TableDefinition):
    """The definition of a game with a low and a high hand: the stake, the commission, and who may be the bank."""

    stake: BetLimits = BetLimits(least=20, most=1000, step=20)
    """The limits of the stake."""
    commission: Commission = Commission()
    """The commission on a winning stake."""
    can_surrender: bool = Field(default=True, alias="surrender")
    """Whether a player may give up the stake before the bank's hands are shown (ss. 52, 115)."""
    spot_name: Text = Text(en="Stake", fr="Mise")
    """The name of the stake's betting spot."""
    player_bank: PlayerBank | None = None
    """The terms on which a player may be the bank; None: the machine always is."""
    proved: WinPushLoseChances | None = None
    """The stored exact probabilities of the stake's results; None: not stored."""

    @model_validator(mode="after")
    def _check_player_bank(self) -> Self:
        """Refuse terms under which no player can be the bank."""
        if self.player_bank is not None:
            self.player_bank.check_table(
                self.table.seat_count, self.stake, len(self.game.denominations_cents)
            )
        return self


@dataclass
class SeatRound:
    """One seat's part in a round of a pai gow game: its bets, its cards or tiles, and how it sets them."""

    seat: int
    bets: dict[str, Bet] = field(default_factory=dict)
    """The seat's bets, by spot."""
    dealt_pieces: list[int] = field(default_factory=list)
    """The cards or tiles dealt to the seat, each as its number in the pack or set."""
    hand_setting: HandSetting | None = None
    """How the seat sets its cards or tiles; None until it has decided, and if it has surrendered."""

    @property
    def hand_id(self) -> str:
        """Return the id of this seat's hand on the felt."""
        return format_hand_id(self.seat)


@dataclass(frozen=True)
class TwoHandsRules(PlayerBankRules):
    """Base class of pai gow rules: each player sets cards or tiles ("pieces") as a low and a high hand.

    The bank's pieces are set by the house way, even if a player is the bank.
    """

    definition: TwoHandsDefinition
    bank_turn: BankTurn = FIRST_BANK_TURN
    """Which seat is offered the bank of the next round first, and which seats may be the bank."""

    PIECES_PER_HAND: ClassVar[int]
    """The number of cards or tiles dealt to each player."""
    PIECE_KIND: ClassVar[str]
    """What the game is played with: ``card`` or ``tile``."""
    PIECE_NAMES: ClassVar[Sequence[str]]
    """The name of each card or tile, by its number."""
    FACE_DOWN_TEXT: ClassVar[str] = "??"
    """The text that makes the screen draw a piece face down."""

    # ------------------------------------------------------------ what each family defines
    @abstractmethod
    def list_settings(self, cards: Sequence[int]) -> tuple[HandSetting, ...]:
        """Return every setting of the dealt cards or tiles, those with the best low hand first."""

    @abstractmethod
    def find_house_way_setting(self, cards: Sequence[int]) -> HandSetting:
        """Return the setting that the house way prescribes for these cards or tiles."""

    @abstractmethod
    def describe_setting(self, setting: HandSetting) -> dict[str, str]:
        """Return the low and the high hand of a setting as text, by language."""

    @abstractmethod
    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of the stake and of the side bets."""

    def is_low_hand_better(self, low_strength: int, bank_low_strength: int) -> bool:
        """Return whether a low hand of strength ``low_strength`` beats the bank's, ``bank_low_strength``."""
        return low_strength > bank_low_strength

    def find_advised_low_mask(self, cards: Sequence[int]) -> int:
        """Return the advised low hand: bit n is set if the dealt card or tile with index n belongs to it."""
        return self.find_house_way_setting(cards).low_mask

    def list_side_bet_spots(self) -> tuple[Spot, ...]:
        """Return the spots of the side bets; none by default."""
        return ()

    def find_highest_side_return(self, bets: Mapping[str, int]) -> int:  # noqa: ARG002
        """Return the most credits that a seat's side bets can return; ``bets`` has the credits by spot."""
        return 0

    def settle_side_bets_before_deal(
        self,
        seat_rounds: Sequence[SeatRound],  # noqa: ARG002
        draw: DrawSource,  # noqa: ARG002
    ) -> Iterator[Cue | Settlement]:
        """Settle the side bets that are decided before anything is dealt; none by default."""
        return iter(())

    def settle_undealt_side_bets(
        self,
        seat_rounds: Sequence[SeatRound],  # noqa: ARG002
        undealt_pieces: list[int],  # noqa: ARG002
        draw: DrawSource,  # noqa: ARG002
    ) -> Iterator[Cue | Settlement]:
        """Settle the side bets that the undealt cards or tiles (``undealt_pieces``) decide; none by default."""
        return iter(())

    def build_extra_display(self, side_events: Sequence[Cue | Settlement]) -> dict[str, object]:  # noqa: ARG002
        """Return what the screen shows besides the hands, such as the seat that gets the first cards; empty by default.

        ``side_events`` has the cues and settlements of the side bets.
        """
        return {}

    def list_undealt_hands(self, side_events: Sequence[Cue | Settlement]) -> list[dict[str, object]]:  # noqa: ARG002
        """Return the hands on the table that belong to no seat and not to the bank, such as the undealt cards.

        ``side_events`` are the cues and settlements of the side bets.
        """
        return []

    # ------------------------------------------------------------ the table
    @cached_property
    def table_layout(self) -> TableLayout:
        """Return the layout: the spot of the stake, and those of the side bets."""
        limits = self.definition.stake
        stake = Spot(
            id=STAKE_SPOT,
            group=STAKE_SPOT,
            names=self.definition.spot_name.model_dump(),
            odds="1:1",
            terms=_describe_pay(self.definition.commission),
            bet_min=limits.bet_min,
            bet_max=limits.bet_max,
            bet_step=limits.bet_step,
        )
        table = self.definition.table
        spots = (stake, *self.list_bank_spots(table.seat_count), *self.list_side_bet_spots())
        return TableLayout(spots, table, self.definition.preset_bets)

    @property
    def player_bank(self) -> PlayerBank | None:
        """Return the terms on which a player may be the bank, or None if the machine always is."""
        return self.definition.player_bank

    def check_definition(self, file: str) -> None:
        """Check that the cards or tiles suffice for all seats, and that the table accepts the preset bets.

        Raises :class:`DefinitionError`.
        """
        seat_count, seats_max = (
            self.definition.table.seat_count,
            len(self.PIECE_NAMES) // self.PIECES_PER_HAND - 1,
        )
        if seat_count > seats_max:
            reason = (
                f"{seat_count}: {len(self.PIECE_NAMES)} {self.PIECE_KIND}s are enough "
                f"for {seats_max} players and the bank"
            )
            raise DefinitionError(file, "table.seats", reason)
        check_preset_bets(self.table_layout, file)

    # ------------------------------------------------------------ the round
    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play a round: deal cards or tiles to every seat, ask how to set them, show the bank's hands, and compare."""
        seat_round_by_seat: dict[int, SeatRound] = {}
        banked_round = self.arrange_bank(bets)
        display = self._build_felt([], [], [], viewer, banked_round.bank_seat)
        if not (yield from self.ask_whether_bank_covers(banked_round, display, viewer)):
            return (yield from self.return_stakes(bets, display))
        yield from banked_round.returned_settlements
        for bet in banked_round.played_bets:
            seat_round_by_seat.setdefault(bet.seat, SeatRound(bet.seat)).bets[bet.spot] = bet
        seat_rounds, undealt_pieces = list(seat_round_by_seat.values()), list(range(len(self.PIECE_NAMES)))
        side_events = list[Cue | Settlement]()
        for event in self.settle_side_bets_before_deal(seat_rounds, draw):
            side_events.append(event)
            yield event
        dealt_seat_rounds = [seat_round for seat_round in seat_rounds if STAKE_SPOT in seat_round.bets]
        for seat_round in dealt_seat_rounds:
            yield from self._deal_seat(seat_round, undealt_pieces, viewer, draw)
        yield from self._ask_seats(dealt_seat_rounds, side_events, viewer, banked_round.bank_seat)
        bank_pieces = self._deal_hand("bank", undealt_pieces, draw) if dealt_seat_rounds else []
        for n, piece in enumerate(bank_pieces):
            yield Cue("flip", {"hand": "bank", "index": n, "card": self.PIECE_NAMES[piece]})
        for seat_round in dealt_seat_rounds:
            if not can_see_seat_cards(seat_round.seat, viewer):
                yield from self._turn_hand_face_up(seat_round)
            stake_settlement = self._settle_seat(seat_round, self.find_house_way_setting(bank_pieces))
            yield stake_settlement
            yield from banked_round.settle_bank(stake_settlement)
        for event in self.settle_undealt_side_bets(seat_rounds, undealt_pieces, draw):
            side_events.append(event)
            yield event
        return Outcome(
            display=self._build_felt(
                dealt_seat_rounds, bank_pieces, side_events, viewer, banked_round.bank_seat
            ),
            table_state=self.build_table_after_bank(banked_round, bets, viewer),
        )

    def _deal_seat(
        self, seat_round: SeatRound, undealt_pieces: list[int], viewer: int | None, draw: DrawSource
    ) -> Iterator[Cue]:
        """Deal a seat's cards or tiles; yield the animation cues, face down for a viewer who may not see them."""
        seat_round.dealt_pieces = self._deal_hand(seat_round.hand_id, undealt_pieces, draw)
        is_face_up = can_see_seat_cards(seat_round.seat, viewer)
        for piece in seat_round.dealt_pieces:
            yield Cue(
                "deal",
                {
                    "hand": seat_round.hand_id,
                    "card": self.PIECE_NAMES[piece] if is_face_up else self.FACE_DOWN_TEXT,
                },
            )

    def _ask_seats(
        self,
        dealt_seat_rounds: Sequence[SeatRound],
        side_events: Sequence[Cue | Settlement],
        viewer: int | None,
        bank_seat: int | None,
    ) -> Generator[RoundEvent, Choice | None, None]:
        """Ask each seat in turn how to set its pieces, or whether to surrender; store its decision."""
        for seat_round in dealt_seat_rounds:
            setting_by_mask = {
                setting.low_mask: setting for setting in self.list_settings(seat_round.dealt_pieces)
            }
            prompt = self._build_felt(dealt_seat_rounds, [], side_events, viewer, bank_seat) | {
                "hand": seat_round.hand_id
            }
            options = (
                (*setting_by_mask, SURRENDER_OPTION)
                if self.definition.can_surrender
                else tuple(setting_by_mask)
            )
            is_shown = can_see_seat_cards(seat_round.seat, viewer)
            build_settings = (
                partial(self._describe_settings, seat_round, setting_by_mask) if is_shown else None
            )
            decision = Decision(
                "set", options, prompt, seat=seat_round.seat, build_more_prompt=build_settings
            )
            seat_round.hand_setting = setting_by_mask.get(decision.get_chosen_option((yield decision)))

    def _deal_hand(self, hand_id: str, undealt_pieces: list[int], draw: DrawSource) -> list[int]:
        """Deal a hand's cards or tiles from those ``undealt_pieces``, and return them."""
        piece_numbers = range(1, self.PIECES_PER_HAND + 1)
        return [
            draw_and_remove_element(draw, undealt_pieces, f"{hand_id} {self.PIECE_KIND} {n}")
            for n in piece_numbers
        ]

    def _describe_settings(
        self, seat_round: SeatRound, setting_by_mask: Mapping[int, HandSetting]
    ) -> dict[str, object]:
        """Return data for the screen: the settings of a seat's cards or tiles, the bank's setting and the advised one.

        The keys of ``setting_by_mask`` are the low hands as bits: bit n stands for the piece with index n.
        """
        return {
            "ways": {str(mask): self.describe_setting(setting) for mask, setting in setting_by_mask.items()},
            "house": self.find_house_way_setting(seat_round.dealt_pieces).low_mask,
            "advice": self.find_advised_low_mask(seat_round.dealt_pieces),
        }

    def _settle_seat(self, seat_round: SeatRound, bank_setting: HandSetting) -> Settlement:
        """Return the settlement of one seat's stake.

        A surrendered stake returns nothing. Otherwise the stake wins if both of the seat's hands beat the bank's, is a
        push if one does, and loses if none does.
        """
        stake_credits = seat_round.bets[STAKE_SPOT].credits
        if seat_round.hand_setting is None:
            return Settlement(
                SURRENDER_OPTION, 0, spot=STAKE_SPOT, staked_credits=stake_credits, seat=seat_round.seat
            )
        low_strength, high_strength, _ = seat_round.hand_setting
        won_hand_count = self.is_low_hand_better(low_strength, bank_setting.low_strength) + (
            high_strength > bank_setting.high_strength
        )
        returned_credits, name = (
            (0, stake_credits, 2 * stake_credits)[won_hand_count],
            ("lost", "push", "won")[won_hand_count],
        )
        if won_hand_count == 2:
            returned_credits -= self.definition.commission.compute_credits(stake_credits)
        return Settlement(
            name, returned_credits, spot=STAKE_SPOT, staked_credits=stake_credits, seat=seat_round.seat
        )

    def find_highest_round_return(self, wager: Wager) -> int:
        """Return the most credits that a round of a wager may return to any one seat."""
        commission: Commission = self.definition.commission
        highest_return = 0
        for bets in wager.bets_by_seat.values():
            bank_credits, stake_credits = bets.get(BANK_SPOT, 0), bets.get(STAKE_SPOT, 0)
            side_bets = {spot: credits_ for spot, credits_ in bets.items() if spot != BANK_SPOT}
            return_as_player = (
                bank_credits
                + 2 * stake_credits
                - commission.compute_credits(stake_credits)
                + self.find_highest_side_return(side_bets)
            )
            return_as_bank = 2 * bank_credits + sum(side_bets.values()) if bank_credits else 0
            highest_return = max(highest_return, return_as_player, return_as_bank)
        return highest_return

    # ------------------------------------------------------------ screen data and texts
    def _build_felt(
        self,
        seat_rounds: Sequence[SeatRound],
        bank_pieces: Sequence[int],
        side_events: Sequence[Cue | Settlement],
        viewer: int | None,
        bank_seat: int | None,
    ) -> dict[str, object]:
        """Return all hands as the viewing seat's screen shows them, each with the low hand first and a description.

        Other seats' hands are face down until the bank's is shown; surrendered hands stay face down (ss. 52, 115).
        """
        hands: list[dict[str, object]] = (
            [{"id": "bank", "cards": [self.FACE_DOWN_TEXT] * self.PIECES_PER_HAND}] if seat_rounds else []
        )
        if bank_pieces:
            hands = [self._build_hand("bank", bank_pieces, self.find_house_way_setting(bank_pieces))]
        if hands and bank_seat is not None:
            hands[0] |= describe_owner(bank_seat, viewer)
        for seat_round in seat_rounds:
            is_face_up = can_see_seat_cards(seat_round.seat, viewer) or (
                bool(bank_pieces) and seat_round.hand_setting is not None
            )
            hand: dict[str, object] = {
                "id": seat_round.hand_id,
                "cards": [self.FACE_DOWN_TEXT] * self.PIECES_PER_HAND,
            }
            if is_face_up:
                hand = self._build_hand(seat_round.hand_id, seat_round.dealt_pieces, seat_round.hand_setting)
            hands.append(hand | describe_owner(seat_round.seat, viewer))
        hands += self.list_undealt_hands(side_events)
        return {"kind": "table", "felt": "cards", "hands": hands, **self.build_extra_display(side_events)}

    def _build_hand(
        self, hand_id: str, dealt_pieces: Sequence[int], hand_setting: HandSetting | None
    ) -> dict[str, object]:
        """Return one hand as the screen shows it.

        ``hand_setting`` is its division into a low and a high hand, None if it is not divided yet.
        """
        if hand_setting is None:
            return {"id": hand_id, "cards": [self.PIECE_NAMES[piece] for piece in dealt_pieces]}
        cards = self._list_set_pieces(dealt_pieces, hand_setting)
        return {
            "id": hand_id,
            "cards": cards,
            "low": _LOW_HAND_PIECE_COUNT,
            "says": self.describe_setting(hand_setting),
        }

    def _turn_hand_face_up(self, seat_round: SeatRound) -> Iterator[Cue]:
        """Yield the cues that turn a seat's hands face up; surrendered hands stay hidden from other seats."""
        if seat_round.hand_setting is not None:
            for n, piece in enumerate(
                self._list_set_pieces(seat_round.dealt_pieces, seat_round.hand_setting)
            ):
                yield Cue("flip", {"hand": seat_round.hand_id, "index": n, "card": piece})

    def _list_set_pieces(self, dealt_pieces: Sequence[int], setting: HandSetting) -> list[str]:
        """Return the names of the cards or tiles of a hand, the low hand first."""
        order = sorted(range(self.PIECES_PER_HAND), key=lambda index: not setting.low_mask >> index & 1)
        return [self.PIECE_NAMES[dealt_pieces[index]] for index in order]

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the table: the spots and the hands (:file:`paytables/FELTS.md`)."""
        return {
            "kind": "table",
            "felt": "cards",
            **self.table_layout.to_json(),
            "hands": self.list_displayed_hands(),
            "pays": [],
        }

    def list_displayed_hands(self) -> list[dict[str, object]]:
        """Return the ids and names of the hands that may be on the felt."""
        keys = {"cards": self.PIECES_PER_HAND, "low": _LOW_HAND_PIECE_COUNT, "back": self.FACE_DOWN_TEXT}
        bank = {"id": "bank", "names": {"en": "Bank", "fr": "Banque"}, **keys, **self.bank_owner_data}
        return [bank, *list_seat_hands(self.definition.table.seat_count, **keys)]

    def explain_pays(self) -> tuple[str, ...]:
        """Return one English sentence: what a winning bet pays."""
        return (f"both hands better pay {_describe_pay(self.definition.commission)['en']}",)

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return an empty tuple: these games have no remarks."""
        return ()

    def prove(self, *_: object) -> WinPushLoseChances:
        """Compute the exact figures that the definition stores. It needs the laboratory packages."""
        raise NotImplementedError

    def verify(self) -> None:
        """Recompute the figures and compare them with the stored ones. Raises :class:`AnalysisError` if they differ."""
        check_stored_proof(self.definition.game.id, self.definition.proved, self.prove)

    def list_stated_stakes(self) -> dict[str, int]:
        """Return the stakes for which figures are stated, in credits by name.

        They are the minimum stake and, if there is one, a stake with a lower return.
        """
        return find_stated_stakes(
            STAKE_SPOT, self.definition.stake, self.definition.commission.compute_credits
        )

    def analyse_bank(self, chances: WinPushLoseChances, bets: Mapping[str, int]) -> BetAnalysis:
        """Return the exact figures of a seat that is the bank, against one opposing stake of the same credits.

        ``chances`` are the probabilities of the opposing stake; the bank pays no commission. The seat's other bets are
        returned.
        """
        bank_credits, cost_credits = bets[BANK_SPOT], sum(bets.values())
        figures = self.build_figures(
            WinPushLoseChances(win=chances.lose, push=chances.push, lose=chances.win),
            bank_credits,
            spot=BANK_SPOT,
            bet=BANK_SPOT,
            worst_rtp=None,
            options={
                "bets": {BANK_SPOT: bank_credits},
                "seat": 0,
                "others": {"1": {STAKE_SPOT: bank_credits}},
            },
            is_covered_by_players=True,
            table={BANK_SPOT: BankTurn(eligible_seats=(0, 1)).to_json()},
        )
        if cost_credits == bank_credits:
            return figures
        rtp = (figures.mean_credits + cost_credits - bank_credits) / cost_credits
        return BetAnalysis(bet="bets", cost_credits=cost_credits, options={"bets": dict(bets)}, rtp=rtp)

    def analyse_bank_at_minimum_bet(self, chances: WinPushLoseChances) -> tuple[BetAnalysis, ...]:
        """Return the figures of a player who is the bank with the minimum bet; empty if no player can be the bank."""
        player_bank = self.player_bank
        if player_bank is None:
            return ()
        return (
            self.table_layout.with_required_bets(
                self.analyse_bank(chances, {BANK_SPOT: player_bank.limits.bet_min})
            ),
        )

    def build_figures(
        self, chances: WinPushLoseChances, stake_credits: int, spot: str = STAKE_SPOT, **other_fields: Json
    ) -> BetAnalysis:
        """Return the exact figures of a pai gow bet from the probabilities of its results."""
        commission = self.definition.commission.compute_credits(stake_credits) if spot == STAKE_SPOT else 0
        chance_by_return = {
            2 * stake_credits - commission: chances.win,
            stake_credits: chances.push,
            0: chances.lose,
        }
        distribution = build_distribution(
            {returned_credits: Fraction(rate) for returned_credits, rate in chance_by_return.items()}
        )
        payments = (
            ("won", 2 * stake_credits - commission, Fraction(chances.win)),
            ("push", stake_credits, Fraction(chances.push)),
        )
        default_fields: dict[str, Json] = {
            "bet": STAKE_SPOT,
            "options": {"bets": {spot: stake_credits}},
            "variance": distribution.compute_variance(),
            "distribution": distribution,
            "worst_rtp": Fraction(0) if self.definition.can_surrender else None,
        }
        return BetAnalysis(
            cost_credits=stake_credits,
            rtp=distribution.compute_moment(1) / stake_credits,
            prizes=tuple(
                PrizeFigures(
                    name=name,
                    stage_or_spot=spot,
                    credits=returned_credits,
                    rate=rate,
                    rtp=rate * returned_credits / stake_credits,
                )
                for name, returned_credits, rate in payments
            ),
            hit_probability=distribution.compute_chance_of_at_least(stake_credits + 1),
            hit_min_credits=stake_credits + 1,
            win_at_least_bet_probability=distribution.compute_chance_of_at_least(stake_credits),
            max_win_credits=2 * stake_credits - commission,
            max_win_probability=Fraction(chances.win),
            **default_fields | other_fields,
        )
