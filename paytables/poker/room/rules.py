"""A poker room's games: players bet against each other, and the house takes a commission (Québec ss. 67.88-67.110).

A seat takes part with its table stakes: all that it can bet in the game is wagered when the game starts (s. 67.95), and
the part not bet or not called is returned when it ends. The table state names a seat for the button: the button is at
this seat, or at the next seat that has a bet, and moves clockwise after each game. No stake is settled before the pots
are awarded, so a game that cannot be completed returns every player's table stakes.

The cards dealt face down to a seat are hidden from all other seats until the showdown. There the player who made the
last bet shows first, then the others clockwise (s. 67.102). A player whose bet nobody calls wins without showing (s.
67.103).
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Final, Self

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.cards.card import Card, Shoe, format_card, get_rank
from paytables.cards.ranking import FIVE_CARD_RANKING, HandRanking, find_category_of_strength
from paytables.contract import (
    Bet,
    Choice,
    Cue,
    Decision,
    DefinitionRemark,
    DrawSource,
    Outcome,
    RoundEvent,
    RoundEvents,
    Spot,
    TimeCharge,
    TimeToAct,
    Wager,
)
from paytables.errors import RefusedRoundError
from paytables.layout import TableLayout, settle_push
from paytables.poker.pays import CATEGORY_NAMES
from paytables.poker.room.betting import CALL_OPTION, CHECK_OPTION, Betting, Player
from paytables.poker.room.figures import analyse_stack
from paytables.poker.room.pots import NOT_PLAYED_SETTLEMENT_NAME, Pot, award_pots, build_pots, settle_stack
from paytables.poker.room.schema import STACK_SPOT, RoomDefinition
from paytables.seating import (
    FACE_DOWN_CARD_TEXT,
    SeatedRules,
    ask_whether_all_staked,
    can_see_seat_cards,
    describe_owner,
    format_hand_id,
    list_seat_hands,
)

#: The key of the table state that names the seat of the button.
BUTTON_KEY: Final = "button"
#: The id of the board's hand.
BOARD_HAND_ID: Final = "board"
#: The board's names, by language.
_BOARD_NAMES: Final[Mapping[str, str]] = {"en": "Board", "fr": "Tableau"}
#: The name shown for the pot in a game without a board, by language.
_SINGLE_POT_NAMES: Final[Mapping[str, str]] = {"en": "Pot", "fr": "Cagnotte"}
#: The name shown for the main and side pots in a game without a board, by language.
_SEVERAL_POTS_NAMES: Final[Mapping[str, str]] = {"en": "Pots", "fr": "Cagnottes"}
#: The least number of players of a game.
PLAYERS_MIN: Final = 2
#: The ranking of hands.
_HAND_RANKING: Final = HandRanking(FIVE_CARD_RANKING)
#: The text at the hand of the button's seat, by language.
_BUTTON_TEXT: Final[Mapping[str, str]] = {"en": "Button", "fr": "Rondelle"}
#: The text at the hand of a player who is all in, by language.
_ALL_IN_TEXT: Final[Mapping[str, str]] = {"en": "All in", "fr": "Tout en jeu"}


@dataclass(slots=True)
class _RoundHands:
    """The cards and bets of one poker room game as one seat sees them on its screen."""

    betting: Betting
    """The players and their bets."""
    button: int
    """The seat that has the dealer button."""
    viewer: int | None
    """The seat whose screen shows the hands: other seats' hole cards are hidden. None: all cards are shown."""
    cards_by_seat: dict[int, list[Card]]
    """The cards of each seat, in the order in which they were dealt."""
    face_up_indexes: set[int] = field(default_factory=set)
    """The indices in a seat's hand of the cards that are dealt face up; the same for all seats."""
    board: list[Card] = field(default_factory=list)
    """The cards of the shared board."""
    seats_shown: set[int] = field(default_factory=set)
    """The seats that have shown their hole cards to the table."""
    category_by_seat: dict[int, str] = field(default_factory=dict)
    """The hand category of each seat that has shown its hole cards, by seat."""
    awards: Mapping[int, int] = field(default_factory=dict)
    """Credits that each winning seat receives from the pots, by seat; empty until the game is settled."""
    is_settled: bool = False
    """Whether the pots have been awarded."""

    def deal_card(self, seat: int, shoe: Shoe, draw: DrawSource, *, is_face_up: bool) -> Cue:
        """Deal a card to a seat, face up if ``is_face_up``; return the animation cue."""
        cards = self.cards_by_seat[seat]
        if is_face_up:
            self.face_up_indexes.add(len(cards))
        cards.append(shoe.deal(draw, f"{format_hand_id(seat)} card {len(cards) + 1}"))
        return Cue("deal", {"hand": format_hand_id(seat), "card": self._list_seen_cards(seat)[-1]})

    def deal_board_card(self, shoe: Shoe, draw: DrawSource) -> Cue:
        """Deal a card to the board; return the animation cue."""
        self.board.append(shoe.deal(draw, f"{BOARD_HAND_ID} card {len(self.board) + 1}"))
        return Cue("deal", {"hand": BOARD_HAND_ID, "card": format_card(self.board[-1])})

    def show_hole_cards(self, seat: int, category: str) -> Iterator[Cue]:
        """Show a seat's hole cards to all; yield the animation cues of the cards that the viewer has not seen."""
        seen_cards = self._list_seen_cards(seat)
        self.seats_shown.add(seat)
        self.category_by_seat[seat] = category
        for index, card in enumerate(self.cards_by_seat[seat]):
            if seen_cards[index] == FACE_DOWN_CARD_TEXT:
                yield Cue("flip", {"hand": format_hand_id(seat), "index": index, "card": format_card(card)})

    def to_json(self) -> dict[str, object]:
        """Return the players' hands and bets, the board and the pot as the screen shows them."""
        pot = {} if self.is_settled else self._describe_pots()
        board = {"id": BOARD_HAND_ID, "cards": [format_card(card) for card in self.board], **pot}
        players = sorted(self.betting.players, key=lambda player: player.seat)
        hands = [board, *(self._describe_hand(player) for player in players)]
        return {"kind": "table", "felt": "cards", "hands": hands}

    def _describe_pots(self) -> dict[str, object]:
        """Return the pot as the screen shows it; with a player all in, also the main pot and each side pot."""
        players, pot = self.betting.players, self.betting.pot
        pots, bet_level_below = [], 0
        for bet_level in sorted(
            {player.total_bet_credits for player in self.betting.unfolded_players if player.is_all_in}
        ):
            pots.append(
                sum(
                    min(player.total_bet_credits, bet_level) - min(player.total_bet_credits, bet_level_below)
                    for player in players
                )
            )
            bet_level_below = bet_level
        pots += [pot - sum(pots)] if sum(pots) < pot else []
        if len(pots) < 2:
            return {"says": dict(_SINGLE_POT_NAMES), "staked": pot}
        return {"says": dict(_SEVERAL_POTS_NAMES), "staked": pot, "pots": pots}

    def _describe_hand(self, player: Player) -> dict[str, object]:
        """Return a seat's hand as the screen shows it."""
        seat, hand_text = player.seat, self._find_hand_text(player)
        return {
            "id": format_hand_id(seat),
            "cards": self._list_seen_cards(seat),
            **({"says": dict(hand_text)} if hand_text else {}),
            **({} if self.is_settled else {"staked": player.total_bet_credits, "left": player.unbet_credits}),
            **({"received": self.awards[seat]} if seat in self.awards else {}),
            **({"became": ["folded"]} if player.is_folded else {}),
            **describe_owner(seat, self.viewer),
        }

    def _find_hand_text(self, player: Player) -> Mapping[str, str] | None:
        """Return the text shown at a seat's hand, by language, or None: its category, "all in" or "button"."""
        if player.seat in self.category_by_seat:
            return dict(zip(("en", "fr"), CATEGORY_NAMES[self.category_by_seat[player.seat]], strict=True))
        if player.is_all_in and not self.is_settled:
            return _ALL_IN_TEXT
        return _BUTTON_TEXT if player.seat == self.button else None

    def _list_seen_cards(self, seat: int) -> list[str]:
        """Return the names of a seat's cards; a card that the viewing seat may not see is named as face down."""
        is_face_up = seat in self.seats_shown or can_see_seat_cards(seat, self.viewer)
        return [
            format_card(card) if is_face_up or index in self.face_up_indexes else FACE_DOWN_CARD_TEXT
            for index, card in enumerate(self.cards_by_seat[seat])
        ]

    def list_face_up_cards(self, seat: int) -> list[Card]:
        """Return a seat's cards that are dealt face up."""
        return [card for index, card in enumerate(self.cards_by_seat[seat]) if index in self.face_up_indexes]


@dataclass(frozen=True)
class RoomRules(SeatedRules):
    """The rules of a poker room's game, with the seat that gets the dealer button in the next game."""

    definition: RoomDefinition
    button: int = 0
    """The seat that gets the button if it plays; otherwise the next seat with a bet gets it."""

    # ------------------------------------------------------------------ the table
    @property
    def seats_min(self) -> int:
        """Return the smallest number of players for which a game can be played."""
        return PLAYERS_MIN

    @property
    def has_fixed_seats(self) -> bool:
        """Return True: each player keeps the same seat in every game, because the button moves from seat to seat."""
        return True

    @property
    def commission_rate(self) -> Fraction:
        """Return the share of a pot that the house takes as its commission (s. 67.108)."""
        return Fraction(self.definition.commission.percent, 100)

    @property
    def time_charge(self) -> TimeCharge | None:
        """Return what each player pays for a period of play (s. 67.108), if the definition states it."""
        charge = self.definition.time_charge
        return None if charge is None else TimeCharge(charge.credits, charge.minutes)

    @property
    def time_to_act(self) -> TimeToAct:
        """Return the time for a decision and the time bank that the definition states, or the defaults."""
        terms = self.definition.time_to_act
        return TimeToAct() if terms is None else TimeToAct(terms.seconds, terms.bank_seconds)

    @cached_property
    def table_layout(self) -> TableLayout:
        """Return the layout: one spot, for a seat's table stakes."""
        stack = self.definition.stack
        spot = Spot(
            id=STACK_SPOT,
            group=STACK_SPOT,
            names=stack.name.model_dump(),
            odds="1:1",
            terms=self.definition.format_terms(),
            **stack.limits.build_spot_fields(),
        )
        return TableLayout((spot,), self.definition.table, self.definition.preset_bets)

    @property
    def shared_state_fields(self) -> frozenset[str]:
        """Return the field of the table state that all players share: the button."""
        return frozenset({BUTTON_KEY})

    def with_table_state(self, table_state: object) -> Self:
        """Return these rules with the button's seat from the stored table state; None is a new table, with seat 0.

        Raises ValueError if the state is anything else than a button at a seat of this table.
        """
        if table_state is None:
            return self.with_table_fields(button=0)
        seat_count = self.definition.table.seat_count
        button = (
            table_state[BUTTON_KEY]
            if isinstance(table_state, Mapping) and set(table_state) == {BUTTON_KEY}
            else None
        )
        if type(button) is not int or button not in range(seat_count):
            raise ValueError(f"{table_state!r} is not a table state that a game of this table can leave")
        return self.with_table_fields(button=button)

    def build_current_view(self) -> Mapping[str, object]:
        """Return, for the screen, the seat that gets the button if it plays the next game."""
        return {BUTTON_KEY: self.button}

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the table: the spot of the table stakes, the board and the hands."""
        count = self.definition.board_card_count
        board = {
            "id": BOARD_HAND_ID,
            "names": dict(_BOARD_NAMES if count else _SINGLE_POT_NAMES),
            "cards": count or 1,
        }
        hands = list_seat_hands(self.definition.table.seat_count, cards=self.definition.player_card_count)
        return {"kind": "table", "felt": "cards", **self.table_layout.to_json(), "hands": [board, *hands]}

    def explain_pays(self) -> tuple[str, ...]:
        """Return English sentences on the hands, the forced bets, the limit and the commission."""
        return tuple(self.definition.format_pay_table_rows()["en"])

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return an empty tuple: poker room games have no remarks."""
        return ()

    # ------------------------------------------------------------------ when betting closes
    def combine_seat_wagers(self, wager: Wager, seat: int, other_wagers: Mapping[int, Wager]) -> Wager:
        """Return one seat's wager combined with the other seats' wagers for one game.

        Raises WagerError if no game can be played with them.
        """
        combined = super().combine_seat_wagers(wager, seat, other_wagers)
        if other_wagers:
            self._sort_by_action_order((*combined.bets, *combined.bets_of_other_seats))
        return combined

    def _sort_by_action_order(self, bets: Sequence[Bet]) -> list[Bet]:
        """Return the bets in the order in which their seats act: first the seat left of the button, last the button.

        Raises WagerError if there are too few players.
        """
        if len(bets) < PLAYERS_MIN:
            raise RefusedRoundError(
                "too_few_players",
                f"bets: poker is played by {PLAYERS_MIN} seats or more; {len(bets)} have bets",
                count=PLAYERS_MIN,
            )
        seat_count = self.definition.table.seat_count
        ordered_bets = sorted(bets, key=lambda bet: (bet.seat - self.button) % seat_count)
        return [*ordered_bets[1:], ordered_bets[0]]

    # ------------------------------------------------------------------ one game
    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play a game: forced bets, deals and betting rounds, the showdown, the pots.

        Raises WagerError if there are too few players.
        """
        ordered_bets = self._sort_by_action_order(bets)
        players = [Player(bet.seat, bet.credits) for bet in ordered_bets]
        betting, button = Betting(players, self.definition.find_bet_sizes(0)), players[-1].seat
        hands = _RoundHands(betting, button, viewer, {player.seat: [] for player in players})
        if not (yield from ask_whether_all_staked(hands.to_json(), viewer)):
            yield from (settle_push(bet, NOT_PLAYED_SETTLEMENT_NAME) for bet in ordered_bets)
            return Outcome(display=hands.to_json(), table_state={BUTTON_KEY: self.button})
        round_count = yield from self._play_betting_rounds(hands, draw)
        betting.return_uncalled_bet()
        strengths = self._rank_hands(hands)
        if len(strengths) > 1:
            for seat in _list_showdown_seats(betting, strengths):
                yield from hands.show_hole_cards(seat, find_category_of_strength(strengths[seat]))
        pots = self._build_pots(betting, round_count)
        awards = award_pots(pots, strengths, [player.seat for player in players])
        hands.is_settled, hands.awards = True, {seat: award.credits for seat, award in awards.items()}
        for bet, player in sorted(zip(ordered_bets, players, strict=True), key=lambda pair: pair[0].seat):
            yield from settle_stack(bet, player, awards.get(bet.seat))
        commission = sum(pot.commission_credits for pot in pots)
        display = hands.to_json() | {"pot": betting.pot, "commission": commission}
        return Outcome(
            display=display, table_state={BUTTON_KEY: (button + 1) % self.definition.table.seat_count}
        )

    def _play_betting_rounds(
        self, hands: _RoundHands, draw: DrawSource
    ) -> Generator[RoundEvent, Choice | None, int]:
        """Take the forced bets, then deal cards and take bets in turn until the showdown or one player is left.

        Return the number of betting rounds for which cards were dealt.
        """
        betting, shoe = hands.betting, Shoe.from_decks(1)
        betting.start_round(self.definition.find_bet_sizes(0), 0)
        betting.post_ante(self.definition.forced_bets.ante)
        self._post_blinds(betting)
        for number, deal in enumerate(self.definition.deals):
            if len(betting.unfolded_players) < PLAYERS_MIN:
                return number
            for is_face_up in (False,) * deal.face_down_count + (True,) * deal.face_up_count:
                for player in betting.unfolded_players:
                    yield hands.deal_card(player.seat, shoe, draw, is_face_up=is_face_up)
            for _ in range(deal.board_card_count):
                yield hands.deal_board_card(shoe, draw)
            if number:
                betting.start_round(self.definition.find_bet_sizes(number), self._find_first_to_act(hands))
            else:
                self._post_bring_in(hands)
            while (next_player := betting.find_next_player()) is not None:
                decision = self._build_decision(betting, next_player, hands)
                betting.apply_option(next_player, str(decision.get_chosen_option((yield decision))))
        return len(self.definition.deals)

    def _post_blinds(self, betting: Betting) -> None:
        """Take the blinds, if the game has them; the seat after the big blind acts first.

        With two players, the button has the small blind and acts first in the betting round before the board.
        """
        forced, player_count = self.definition.forced_bets, len(betting.players)
        if forced.small_blind is None or forced.big_blind is None:
            return
        small_blind_index = 1 if player_count == PLAYERS_MIN else 0
        big_blind_index = (small_blind_index + 1) % player_count
        betting.post_forced_bet(small_blind_index, forced.small_blind)
        betting.post_forced_bet(big_blind_index, forced.big_blind)
        betting.next_player_index = (big_blind_index + 1) % player_count

    def _post_bring_in(self, hands: _RoundHands) -> None:
        """Take the bring-in, if the game has one, from the lowest face-up card; the player after it acts first."""
        forced, players = self.definition.forced_bets, hands.betting.players
        if forced.bring_in is None:
            return
        lowest_index = min(range(len(players)), key=lambda n: hands.list_face_up_cards(players[n].seat))
        hands.betting.post_forced_bet(lowest_index, forced.bring_in)
        hands.betting.next_player_index = (lowest_index + 1) % len(players)

    def _find_first_to_act(self, hands: _RoundHands) -> int:
        """Return the index of the player who acts first in a betting round.

        In a game with a bring-in it is the player with the highest face-up cards, otherwise the first left of
        the button.
        """
        if self.definition.forced_bets.bring_in is None:
            return 0
        players = hands.betting.players
        strength_by_index = {
            n: _HAND_RANKING.compute_strength_without_flushes(
                tuple(sorted(map(get_rank, hands.list_face_up_cards(player.seat))))
            )
            for n, player in enumerate(players)
            if not player.is_folded
        }
        return max(strength_by_index, key=lambda n: (strength_by_index[n], -n))

    def _build_decision(self, betting: Betting, player: Player, hands: _RoundHands) -> Decision:
        """Return the decision of the player whose turn it is."""
        options = betting.list_options(player)
        prompt = {
            **hands.to_json(),
            "spot": STACK_SPOT,
            "hand": format_hand_id(player.seat),
            "staked": player.total_bet_credits,
            "costs": {option: credits_ for option, credits_ in options.items() if credits_},
            "reference": CHECK_OPTION if CHECK_OPTION in options else CALL_OPTION,
        }
        return Decision("betting", tuple(options), prompt, seat=player.seat)

    def _rank_hands(self, hands: _RoundHands) -> dict[int, int]:
        """Return the strength of each hand in the showdown, by seat.

        If all players but one have folded, the last one gets strength 0, as no hand is shown.
        """
        unfolded_seats = [player.seat for player in hands.betting.unfolded_players]
        if len(unfolded_seats) == 1:
            return {unfolded_seats[0]: 0}
        return {
            seat: self.compute_hand_strength(hands.cards_by_seat[seat], hands.board)
            for seat in unfolded_seats
        }

    def compute_hand_strength(self, hole_cards: Sequence[Card], board: Sequence[Card]) -> int:
        """Return the strength of the best hand of hole cards and board."""
        required_count = self.definition.required_hole_card_count
        if required_count is None:
            return _HAND_RANKING.compute_strength([*hole_cards, *board])
        return max(
            _HAND_RANKING.compute_strength([*own_cards, *shared_cards])
            for own_cards in combinations(hole_cards, required_count)
            for shared_cards in combinations(board, FIVE_CARD_RANKING.hand_size - required_count)
        )

    def _build_pots(self, betting: Betting, rounds_played: int) -> tuple[Pot, ...]:
        """Return the pots after ``rounds_played`` betting rounds.

        The commission is deducted if the game reached the first betting round for which a commission is due.
        """
        totals = {player.seat: player.total_bet_credits for player in betting.players}
        pots = build_pots(totals, [player.seat for player in betting.unfolded_players])
        is_due = rounds_played >= self.definition.commission.first_round_number
        return self.definition.commission_rules.deduct_commission(pots) if is_due else pots

    # ------------------------------------------------------------------ figures
    def find_highest_round_return(self, wager: Wager) -> int:
        """Return the most credits that a game can return to a seat: its table stakes times the number of seats."""
        return wager.credits * self.definition.table.seat_count

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the figures of the smallest permitted table stakes (:mod:`paytables.poker.room.figures`)."""
        header = self.definition.game
        bet = analyse_stack(self.definition, self.definition.stack.limits.bet_min, depth)
        return Analysis(game_id=header.id, version=header.version, family=header.family, bets=(bet,))

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the figures of a wager's table stakes."""
        accepted_wager = self.build_wager(wager.credits, **wager.options)
        return analyse_stack(self.definition, accepted_wager.credits, AnalysisDepth.FULL)


def _list_showdown_seats(betting: Betting, showdown_seats: Iterable[int]) -> list[int]:
    """Return the seats in the order in which they show their cards (s. 67.102).

    The seat that made the last bet is first, then clockwise.
    """
    seat_order = [player.seat for player in betting.players]
    first_index = seat_order.index(betting.last_bettor_seat) if betting.last_bettor_seat in seat_order else 0
    shown_seats = set(showdown_seats)
    return [seat for seat in (*seat_order[first_index:], *seat_order[:first_index]) if seat in shown_seats]
