"""The rules of one poker game against the bank, played from its definition."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

from paytables import side_bets
from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.cards import Card, Shoe, format_card, parse_cards
from paytables.cards.ranking import HandRanking, find_category_of_strength
from paytables.contract import (
    Bet,
    Choice,
    Cue,
    Decision,
    DefinitionRemark,
    DrawSource,
    LevelHit,
    LevelParticipation,
    Outcome,
    RoundEvents,
    Settlement,
    Spot,
    Wager,
)
from paytables.errors import WagerError
from paytables.layout import Odds, TableLayout, check_credit_multiples, settle_bet, settle_push
from paytables.poker.pays import CATEGORY_NAMES, find_pay_row
from paytables.poker.proof import check_stored_proof
from paytables.poker.table import figures
from paytables.poker.table.advice import BestOptionAdvice
from paytables.poker.table.schema import (
    RANKING_RULES_BY_NAME,
    BetSpot,
    DecisionOption,
    HandComparison,
    PayRow,
    PokerDefinition,
    ProvedFigures,
    RoundStep,
)
from paytables.seating import (
    FACE_DOWN_CARD_TEXT,
    SeatedRules,
    can_see_seat_cards,
    describe_owner,
    format_hand_id,
    list_seat_hands,
)

#: The pay of a bet that simply wins.
EVEN_MONEY_ODDS: Final = Odds.parse("1:1")


@dataclass
class SeatRound:
    """One seat's part in a round of a poker game: its cards, its open bets, and whether it has folded."""

    seat: int
    bets: dict[str, int]
    """The credits of each bet that is not settled yet, by spot."""
    cards: list[Card] = field(default_factory=list)
    """The cards dealt to the seat."""
    is_folded: bool = False
    """Whether the seat has folded."""

    @property
    def hand_id(self) -> str:
        """Return the id of this seat's hand on the felt."""
        return format_hand_id(self.seat)


@dataclass
class RoundHands:
    """The hands of one round of a poker game: the seats' hands, the bank's hand and the shared board.

    The viewing seat sees the other seats' hands face down until they are turned; a folded hand is never turned.
    """

    seat_rounds: list[SeatRound]
    """The seats that play, each with its cards and bets."""
    viewer: int | None
    """The seat whose screen shows the round; None if one player plays alone."""
    bank: list[Card] = field(default_factory=list)
    """The cards of the bank."""
    board: list[Card] = field(default_factory=list)
    """The cards of the shared board."""
    is_over: bool = False
    """Whether all decisions are made, so that the hands may be turned face up."""

    def can_viewer_see_cards(self, seat_round: SeatRound) -> bool:
        """Return whether the viewing seat may see the cards of this seat."""
        return can_see_seat_cards(seat_round.seat, self.viewer) or (self.is_over and not seat_round.is_folded)

    def turn_other_hands_face_up(self) -> Iterator[Cue]:
        """Turn the hands of seats other than the viewer's face up, except folded ones; yield the animation cues."""
        hidden_seat_rounds = [
            seat_round for seat_round in self.seat_rounds if not self.can_viewer_see_cards(seat_round)
        ]
        self.is_over = True
        for seat_round in filter(self.can_viewer_see_cards, hidden_seat_rounds):
            for index, card in enumerate(seat_round.cards):
                yield Cue("flip", {"hand": seat_round.hand_id, "index": index, "card": format_card(card)})


@dataclass(frozen=True)
class PokerRules(SeatedRules):
    """The rules of a playable poker game against the bank."""

    definition: PokerDefinition

    @cached_property
    def _rankings(self) -> dict[str, HandRanking]:
        """Return the rankings of poker hands, by the name of their order."""
        return {name: HandRanking(order) for name, order in RANKING_RULES_BY_NAME.items()}

    @cached_property
    def table_layout(self) -> TableLayout:
        """Return the layout of the betting spots. A spot that only raises are placed on takes no initial bet."""
        spots = tuple(
            self._build_raise_spot(spot, self._build_spot(spot))
            if spot.is_raise_only
            else self._build_spot(spot)
            for spot in self.definition.bet_spots
        )
        return TableLayout(spots, self.definition.table, self.definition.preset_bets)

    def _build_spot(self, spot: BetSpot) -> Spot:
        """Return the betting spot of a definition's stake, with its odds as text and its limits."""
        return Spot(
            id=spot.id,
            group=spot.id,
            names=spot.name.model_dump(),
            odds=max((row.pays for row in spot.pay_rows), key=lambda odds: (odds.level_share, odds.net)).text
            if spot.pay_rows
            else "1:1",
            **spot.limits.build_spot_fields(),
            accepts_bets=not spot.is_raise_only,
            required_spot=self.definition.ante.id
            if spot.is_raise_only
            else spot.base_spot or spot.required_spot,
            required_multiple=None if spot.base_spot is None else int(spot.base_stake_multiple),
            reserve_per_credit=self._added_stake_factor_max
            if spot.id == self.definition.ante.id
            else Fraction(0),
        )

    @cached_property
    def _added_stake_factor_max(self) -> Fraction:
        """Return the most that a player's decisions can add to the stakes in a round, as a multiple of the ante."""
        return self._find_added_stake_factor_from(0, frozenset())

    def _find_added_stake_factor_from(self, step_index: int, raised_ids: frozenset[str]) -> Fraction:
        """Return the largest total that decisions from a step on can add to the stakes, as a multiple of the ante.

        ``raised_ids`` are the ids of the bets that earlier decisions have raised.
        """
        if step_index == len(self.definition.steps):
            return Fraction(0)
        step = self.definition.steps[step_index]
        needs_raise = step.asked_with_bets and all(
            self.definition.spot_by_id[name].is_raise_only for name in step.asked_with_bets
        )
        if raised_ids.intersection(step.skipped_with_bets) or (
            needs_raise and not raised_ids.intersection(step.asked_with_bets)
        ):
            return self._find_added_stake_factor_from(step_index + 1, raised_ids)
        return max(
            (
                option.added_stake_factor
                + self._find_added_stake_factor_from(
                    step_index + 1,
                    raised_ids | {str(option.spot)} if option.added_stake_factor else raised_ids,
                )
                for option in step.options
                if not option.is_fold
            ),
            default=self._find_added_stake_factor_from(step_index + 1, raised_ids),
        )

    def _build_raise_spot(self, definition_spot: BetSpot, spot: Spot) -> Spot:
        """Return the spot of a raise: ``spot`` with the ante's limits times the lowest and highest multiple offered.

        The options of the player's decisions state the multiples. If no decision raises the spot, it is
        returned unchanged. ``definition_spot`` is the spot's definition.
        """
        options = (option for step in self.definition.steps for option in step.options)
        multiples = sorted(
            {
                option.added_stake_factor
                for option in options
                if option.spot == definition_spot.id and option.added_stake_factor
            }
        )
        if not multiples:
            return spot
        ante = self.definition.ante.limits
        bet_min, bet_max = int(ante.bet_min * multiples[0]), int(ante.bet_max * multiples[-1])
        return replace(spot, bet_min=bet_min, bet_max=bet_max, added_bet_multiples=tuple(map(str, multiples)))

    def check_definition(self, file: str) -> None:
        """Refuse stakes that can leave a fraction of a credit, and invalid progressive levels.

        Raises :class:`DefinitionError`.
        """
        factors: dict[str, list[Fraction]] = {}
        for option in (option for step in self.definition.steps for option in step.options):
            if option.added_stake_factor:
                factors.setdefault(self.definition.ante.id, []).append(option.added_stake_factor)
                factors.setdefault(str(option.spot), [])
            elif option.returned_share is not None:
                factors.setdefault(str(option.spot), []).append(Fraction(option.returned_share))
        for n, spot in enumerate(self.definition.bet_spots):
            odds = [row.pays for row in (*spot.pay_rows, *spot.overriding_rows, *spot.bonus_rows)]
            odds += [Odds(str(factor), factor) for factor in factors.get(spot.id, ())]
            if not spot.is_raise_only:
                check_credit_multiples(f"spot.{n}.limits", spot.limits, odds, file)
        pays = {
            spot.id: (spot.limits, [row.pays for row in spot.pay_rows]) for spot in self.definition.bet_spots
        }
        side_bets.check_levels(self.definition.progressive_levels, pays, file)

    # ------------------------------------------------------------ the round
    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play a round: deal and ask step by step, then turn the bank's cards and settle every bet."""
        seat_round_by_seat: dict[int, SeatRound] = {}
        for bet in bets:
            seat_round_by_seat.setdefault(bet.seat, SeatRound(bet.seat, {})).bets[bet.spot] = bet.credits
        shoe, hands = Shoe.from_decks(), RoundHands(list(seat_round_by_seat.values()), viewer)
        for step in self.definition.steps:
            if step.deal is not None:
                yield from self._deal(step, shoe, draw, hands)
                continue
            for seat_round in hands.seat_rounds:
                if self._should_ask(step, seat_round):
                    yield from self._ask_seat(step, seat_round, hands)
        duel, bank = self.definition.duel, hands.bank
        if duel is not None and any(map(self._has_bets_against_bank, hands.seat_rounds)):
            for n in range(len(bank), duel.bank_card_count):
                bank.append(shoe.deal(draw, f"bank card {n + 1}"))
                yield Cue("flip", {"hand": "bank", "index": n, "card": format_card(bank[n])})
        yield from hands.turn_other_hands_face_up()
        for seat_round in hands.seat_rounds:
            yield from self._settle(seat_round, bank, hands.board)
        hits = tuple(
            hit
            for seat_round in hands.seat_rounds
            if can_see_seat_cards(seat_round.seat, viewer)
            for hit in self._iter_level_hits(seat_round, hands.board)
        )
        return Outcome(progressives=hits, display=self._build_felt(hands))

    def _has_bets_against_bank(self, seat_round: SeatRound) -> bool:
        """Return whether a seat still has a bet that the bank's cards decide."""
        return any(not self.definition.spot_by_id[spot].is_independent_of_bank for spot in seat_round.bets)

    def _deal(self, step: RoundStep, shoe: Shoe, draw: DrawSource, hands: RoundHands) -> Iterator[Cue]:
        """Deal the cards of a step to the seats still playing, the bank and the board; yield the cues."""
        deal = step.deal
        if deal is None or not any(seat_round.bets for seat_round in hands.seat_rounds):
            return
        for seat_round in hands.seat_rounds:
            for _ in range(deal.player_card_count if seat_round.bets and not seat_round.is_folded else 0):
                seat_round.cards.append(
                    shoe.deal(draw, f"{seat_round.hand_id} card {len(seat_round.cards) + 1}")
                )
                card = (
                    format_card(seat_round.cards[-1])
                    if hands.can_viewer_see_cards(seat_round)
                    else FACE_DOWN_CARD_TEXT
                )
                yield Cue("deal", {"hand": seat_round.hand_id, "card": card})
        for name, cards, count in (
            ("bank", hands.bank, deal.bank_card_count),
            ("board", hands.board, deal.board_card_count),
        ):
            for _ in range(count):
                cards.append(shoe.deal(draw, f"{name} card {len(cards) + 1}"))
                yield Cue("deal", {"hand": name, "card": format_card(cards[-1])})

    def _should_ask(self, step: RoundStep, seat_round: SeatRound) -> bool:
        """Return whether a seat must decide in this step.

        It need not if it has folded, if its bets skip the decision, or if it has no bet that an option can change.
        """
        if seat_round.is_folded or any(name in seat_round.bets for name in step.skipped_with_bets):
            return False
        if step.asked_with_bets and not any(name in seat_round.bets for name in step.asked_with_bets):
            return False
        spots_with_options = {
            option.spot for option in step.options if option.returned_share is not None
        } or {self.definition.ante.id}
        return bool(spots_with_options & seat_round.bets.keys())

    def _ask_seat(
        self, step: RoundStep, seat_round: SeatRound, hands: RoundHands
    ) -> Generator[Decision | Settlement, Choice | None, None]:
        """Ask one seat for its decision in a step and apply it; yield the settlements of folded and withdrawn bets."""
        options = {
            option.id: option for option in step.options if self._is_option_offered(option, seat_round)
        }
        ante = seat_round.bets.get(self.definition.ante.id, 0)
        added_credits_by_option = {
            name: int(option.added_stake_factor * ante)
            for name, option in options.items()
            if option.added_stake_factor
        }
        added_bet_by_option = {
            name: Bet(str(options[name].spot), credits_, seat_round.seat)
            for name, credits_ in added_credits_by_option.items()
        }

        def build_more_prompt() -> dict[str, object]:
            """Return the visible cards and, for the seat's own screen, the advice."""
            prompt = self._build_felt(hands)
            if can_see_seat_cards(seat_round.seat, hands.viewer):
                prompt |= self.build_advice(step, seat_round, hands.bank, hands.board)
            return prompt

        decision = Decision(
            str(step.decision_name),
            tuple(options),
            stakes=added_bet_by_option,
            seat=seat_round.seat,
            build_more_prompt=build_more_prompt,
        )
        chosen_option: DecisionOption = options[decision.get_chosen_option((yield decision))]
        if chosen_option.is_fold:
            seat_round.is_folded = True
            for name in [
                name
                for name in seat_round.bets
                if not self.definition.spot_by_id[name].is_independent_of_bank
            ]:
                yield settle_bet(Bet(name, seat_round.bets.pop(name), seat_round.seat), None, "folded")
        elif chosen_option.returned_share is not None:
            name = str(chosen_option.spot)
            staked_credits = seat_round.bets.pop(name)
            returned_credits = int(Fraction(chosen_option.returned_share) * staked_credits)
            yield Settlement(
                "withdrawn", returned_credits, spot=name, staked_credits=staked_credits, seat=seat_round.seat
            )
        elif chosen_option.id in added_credits_by_option:
            name = str(chosen_option.spot)
            seat_round.bets[name] = seat_round.bets.get(name, 0) + added_credits_by_option[chosen_option.id]

    @cached_property
    def _advice(self) -> BestOptionAdvice:
        """Return the advice for the player's decisions, built once."""
        return BestOptionAdvice(self.definition, self._rankings)

    def build_advice(
        self, step: RoundStep, seat_round: SeatRound, bank: list[Card], board: list[Card]
    ) -> dict[str, str]:
        """Return the best option at a decision as data for the screen; empty if it is not known.

        See :mod:`paytables.poker.table.advice`.
        """
        best_option_id = self._advice.find_best_option(step, seat_round.bets, seat_round.cards, bank, board)
        return {} if best_option_id is None else {"advice": best_option_id}

    def _is_option_offered(self, option: DecisionOption, seat_round: SeatRound) -> bool:
        """Return whether an option is offered to a seat.

        An option may require that the seat's own cards are at least a certain hand.
        """
        duel = self.definition.duel
        if option.lowest_hand is None or duel is None:
            return True
        ranking = self._rankings[duel.ranking_name]
        return ranking.compute_strength(seat_round.cards) >= ranking.compute_strength(
            parse_cards(option.lowest_hand)
        )

    # ------------------------------------------------------------ settlement of bets
    def compare_hands(self, player: list[Card], bank: list[Card]) -> HandComparison:
        """Return how the player's best hand compares with the bank's; both lists of cards include the board's."""
        duel = self.definition.duel
        if duel is None:
            raise WagerError("this game has no duel against the bank")
        ranking = self._rankings[duel.ranking_name]
        player_strength, bank_strength = ranking.compute_strength(player), ranking.compute_strength(bank)
        if bank_strength < duel.lowest_qualifying_strength:
            return "unqualified"
        return (
            "better"
            if player_strength > bank_strength
            else "equal"
            if player_strength == bank_strength
            else "worse"
        )

    def find_pay_row(
        self, rows: tuple[PayRow, ...], spot: BetSpot, player: list[Card], board: list[Card]
    ) -> PayRow | None:
        """Return the first of a pay table's ``rows`` that the cards win on a spot; None: the cards win no row."""
        ranking = self._rankings[spot.ranking_name]
        cards = [*player[: spot.player_card_count], *board[: spot.board_card_count]]
        row_index = find_pay_row(rows, ranking.compute_strength(cards), 0, ranking.rules) if rows else None
        return None if row_index is None else rows[row_index]

    def _settle(self, seat_round: SeatRound, bank: list[Card], board: list[Card]) -> Iterator[Settlement]:
        """Yield the settlement of each remaining bet of one seat, with its bonus."""
        for name, credits_ in seat_round.bets.items():
            spot, bet = self.definition.spot_by_id[name], Bet(name, credits_, seat_round.seat)
            bonus_row = self.find_pay_row(spot.bonus_rows, spot, seat_round.cards, board)
            overriding_row = self.find_pay_row(spot.overriding_rows, spot, seat_round.cards, board)
            if bonus_row is not None:
                bonus_credits = bonus_row.pays.compute_total_return(credits_) - credits_
                yield Settlement(bonus_row.id, bonus_credits, spot=name, seat=seat_round.seat)
            if overriding_row is not None:
                yield settle_bet(bet, overriding_row.pays, overriding_row.id)
                continue
            pay_row = self.find_pay_row(spot.pay_rows, spot, seat_round.cards, board)
            if spot.is_independent_of_bank:
                yield settle_bet(
                    bet, None if pay_row is None else pay_row.pays, "" if pay_row is None else pay_row.id
                )
                continue
            result = spot.find_result(self.compare_hands([*seat_round.cards, *board], [*bank, *board]))
            if result == "pays" and pay_row is not None:
                yield settle_bet(bet, pay_row.pays, pay_row.id)
                continue
            result = spot.result_without_row if result == "pays" else result
            yield {"win": settle_bet(bet, EVEN_MONEY_ODDS), "push": settle_push(bet)}.get(
                result, settle_bet(bet, None)
            )

    def _iter_level_hits(self, seat_round: SeatRound, board: list[Card]) -> Iterator[LevelHit]:
        """Yield the hits of progressive levels by one seat's bets."""
        for level in self.definition.progressive_levels:
            spot = self.definition.spot_by_id[level.spot]
            row = (
                self.find_pay_row(spot.pay_rows, spot, seat_round.cards, board)
                if spot.id in seat_round.bets
                else None
            )
            if row is not None and row.pays.level_share:
                yield side_bets.build_level_hit(level, row.pays)

    def list_levels(self, wager: Wager) -> tuple[LevelParticipation, ...]:
        """Return the progressive level of each side bet in the wager, if the bet plays for one."""
        staked_spots = [bet.spot for bet in self.build_wager(wager.credits, **wager.options).bets]
        return tuple(
            figures.build_side_bet(self.definition, level).build_level_participation(
                staked_spots.count(level.spot)
            )
            for level in self.definition.progressive_levels
            if level.spot in staked_spots
        )

    def list_every_level(self) -> tuple[LevelParticipation, ...]:
        """Return every progressive level of the side bets, each with the only stake that plays for it."""
        return tuple(
            figures.build_side_bet(self.definition, level).build_level_participation()
            for level in self.definition.progressive_levels
        )

    # ------------------------------------------------------------ texts and screen data
    def _describe_hand(self, cards: list[Card], *, is_bank_hand: bool) -> dict[str, str] | None:
        """Return the category of a poker hand as text, by language, or None if the hand has too few cards."""
        duel = self.definition.duel
        name = duel.ranking_name if duel is not None else self.definition.ante.ranking_name
        ranking = self._rankings[name]
        if len(cards) < ranking.rules.hand_size:
            return None
        strength = ranking.compute_strength(cards)
        english, french = CATEGORY_NAMES[find_category_of_strength(strength, ranking.rules)]
        if is_bank_hand and duel is not None and strength < duel.lowest_qualifying_strength:
            english, french = f"{english}: does not open", f"{french} : n'ouvre pas"
        return {"en": english, "fr": french}

    def _build_felt(self, hands: RoundHands) -> dict[str, object]:
        """Return the bank's, the board's and the seats' hands as the viewing seat's screen shows them.

        At the end of the round the bank's category is named.
        """
        shown_hands: list[dict[str, object]] = []
        duel, bank, board = self.definition.duel, hands.bank, hands.board
        if duel is not None:
            hidden_cards = [FACE_DOWN_CARD_TEXT] * (duel.bank_card_count - len(bank))
            hand: dict[str, object] = {"id": "bank", "cards": [*map(format_card, bank), *hidden_cards]}
            hand_text = (
                self._describe_hand([*bank, *board], is_bank_hand=True)
                if hands.is_over and not hidden_cards
                else None
            )
            shown_hands.append({**hand, "says": hand_text} if hand_text else hand)
        if self._board_card_count:
            shown_hands.append({"id": "board", "cards": [format_card(card) for card in board]})
        for seat_round in hands.seat_rounds:
            is_face_up = hands.can_viewer_see_cards(seat_round)
            hand_text = (
                self._describe_hand([*seat_round.cards, *board], is_bank_hand=False) if is_face_up else None
            )
            cards = [format_card(card) if is_face_up else FACE_DOWN_CARD_TEXT for card in seat_round.cards]
            hand = {"id": seat_round.hand_id, "cards": cards, **describe_owner(seat_round.seat, hands.viewer)}
            shown_hands.append({**hand, "says": hand_text} if hand_text else hand)
        return {"kind": "table", "felt": "cards", "hands": shown_hands}

    @cached_property
    def _board_card_count(self) -> int:
        """Return the number of cards on the shared board at the end of a round."""
        return sum(step.deal.board_card_count for step in self.definition.steps if step.deal is not None)

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the table: spots, hands and pay tables (:file:`paytables/FELTS.md`)."""
        duel, definition = self.definition.duel, self.definition
        own_cards = sum(step.deal.player_card_count for step in definition.steps if step.deal is not None)
        hands = list_seat_hands(definition.table.seat_count, cards=own_cards)
        if self._board_card_count:
            hands.insert(
                0, {"id": "board", "names": {"en": "Board", "fr": "Tapis"}, "cards": self._board_card_count}
            )
        if duel is not None:
            hands.insert(
                0, {"id": "bank", "names": {"en": "Bank", "fr": "Banque"}, "cards": duel.bank_card_count}
            )
        return {
            "kind": "table",
            "felt": "cards",
            **self.table_layout.to_json(),
            "hands": hands,
            "progressives": side_bets.levels_to_json(definition.progressive_levels),
            "pays": [
                {"name": row.id, "names": row.title, "odds": row.pays.text, "spot": spot.id}
                for spot in definition.bet_spots
                for row in (*spot.overriding_rows, *spot.bonus_rows, *spot.pay_rows)
            ],
        }

    def explain_pays(self) -> tuple[str, ...]:
        """Return one English sentence for each betting spot of the poker table: what it pays."""
        return tuple(self.definition.format_pay_table_rows()["en"])

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return remarks on a legal pay table that may surprise because a better hand pays less."""
        lower_pay_remarks = []
        for n, spot in enumerate(self.definition.bet_spots):
            for rows, name in (
                (spot.pay_rows, "pay"),
                (spot.overriding_rows, "first"),
                (spot.bonus_rows, "bonus"),
            ):
                for m in range(1, len(rows)):
                    row_before, row = rows[m - 1].pays, rows[m].pays
                    if bool(row_before.level_share) != bool(row.level_share):
                        continue  # the value of a share of a level is not known here
                    if (row.level_share, row.net) > (row_before.level_share, row_before.net):
                        reason = f"pays more than {rows[m - 1].id}, which goes before it"
                        lower_pay_remarks.append(DefinitionRemark(f"spot.{n}.{name}.{m}.pays", reason))
        return tuple(lower_pay_remarks)

    def analyse(self, depth: AnalysisDepth) -> Analysis:  # noqa: ARG002 (the result is the same at every depth)
        """Return the exact figures of the game; see :mod:`paytables.poker.table.figures`."""
        analysis = figures.analyse(self.definition)
        return replace(analysis, bets=tuple(map(self.table_layout.with_required_bets, analysis.bets)))

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of any combination of a seat's bets."""
        return figures.analyse_bets(self.definition, self.build_wager(wager.credits, **wager.options))

    def prove(self, *solver_options: object) -> dict[str, ProvedFigures]:
        """Compute the exact figures that the definition stores. It needs the laboratory packages.

        ``solver_options`` are as in :func:`paytables.poker.table.figures.prove`.
        """
        return figures.prove(self.definition, *solver_options)

    def verify(self) -> None:
        """Recompute the figures and compare them with the stored ones. Raises :class:`AnalysisError` if they differ."""
        check_stored_proof(self.definition.game.id, self.definition.proved, self.prove)
