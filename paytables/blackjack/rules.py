"""The rules of one blackjack table, played from its definition."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Self

from paytables import side_bets
from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.bank.dealing import read_shoe
from paytables.blackjack import figures
from paytables.blackjack.advice import PackedStrategy, read_strategy
from paytables.blackjack.definition import BlackjackDefinition
from paytables.blackjack.round import DEALER_HAND_ID, BlackjackRound, format_back_spot_id, format_spot_id
from paytables.blackjack.rule_texts import build_chart_rows
from paytables.blackjack.schema import (
    BACK_SPOT_PREFIX,
    EVEN_MONEY_ODDS,
    INSURANCE_SPOT,
    INSURANCE_TEXT,
    MAIN_SPOT,
    SPOTS_BY_DEALER_HAND,
    TEN_VALUE,
    AnalysedHouseRules,
    ProvedFigures,
)
from paytables.contract import Bet, DefinitionRemark, DrawSource, LevelParticipation, RoundEvents, Spot, Wager
from paytables.definition import Text
from paytables.errors import RefusedRoundError, WagerError
from paytables.layout import Odds, SpotLimits, TableLayout, check_credit_multiples, check_preset_bets
from paytables.poker.proof import check_stored_proof
from paytables.seating import SeatedRules
from paytables.side_bets import SideBet, SideBetProgressiveLevel
from paytables.wording import format_count

#: Insurance costs half of a stake.
_INSURANCE_STAKE_SHARE: Final = Odds.parse("1:2")
#: The name of the dealer's hand.
_DEALER_HAND_NAME: Final = Text(en="Dealer", fr="Croupier")
#: The name of a player's hand.
_PLAYER_HAND_NAME: Final = Text(en="Player", fr="Joueur")
#: The name of a box.
_BOX_NAME: Final = Text(en="box {0}", fr="case {0}")
#: The name of a spot for bets on another player's hand.
_BACK_SPOT_NAME: Final = Text(en="Player {0}'s hand", fr="Joueur {0}")


@dataclass(frozen=True)
class BlackjackRules(SeatedRules):
    """The rules of a playable blackjack table; ``table_state`` is the shoe left by earlier rounds."""

    definition: BlackjackDefinition
    table_state: object = field(default=None, compare=False)
    """The shoe left by earlier rounds, as the table state stores it."""
    enforces_win_limit: ClassVar[bool] = True

    # ------------------------------------------------------------ bets
    @cached_property
    def table_layout(self) -> TableLayout:
        """Return the layout: each box's main bets, its insurance (staked in play only) and its side bets."""
        spots = [spot for box in range(self.definition.box_count) for spot in self._build_spots(box)]
        return TableLayout(
            (*spots, *self._build_back_spots()), self.definition.table, self.definition.preset_bets
        )

    def _build_back_spots(self) -> list[Spot]:
        """Return the spots for bets on the hand of each seat, if the table takes such bets (Québec s. 16)."""
        limits, spots = self.definition.main_bet.limits, []
        # the hand's own player bets at least the minimum; the rest of the limit is left for other players
        back_limits = limits.build_spot_fields()
        back_limits["bet_max"] = limits.bet_max - limits.bet_min
        for seat, spot_id in enumerate(self._back_spot_ids):
            names = {
                language: text.format(seat + 1) for language, text in _BACK_SPOT_NAME.model_dump().items()
            }
            spot = _build_spot(spot_id, BACK_SPOT_PREFIX, names, "1:1", back_limits, None)
            spots.append(replace(spot, excluded_spots=(MAIN_SPOT,), hand_seat=seat))
        return spots

    @cached_property
    def _back_spot_ids(self) -> tuple[str, ...]:
        """Return the ids of the spots for bets on other seats' hands, by seat; empty if there are no such bets."""
        seats = self.definition.table.seat_count if self.definition.house_rules.accepts_back_bets else 0
        return tuple(format_back_spot_id(seat) for seat in range(seats))

    def _build_spots(self, box_index: int) -> list[Spot]:
        """Return every betting spot of one box: main bets, insurance and side bets."""
        definition, main_bet = self.definition, self.definition.main_bet
        limits, main_spot = main_bet.limits, format_spot_id(MAIN_SPOT, box_index)
        spots = []
        for n, name in enumerate(SPOTS_BY_DEALER_HAND[: main_bet.dealer_hand_count]):
            names = self._build_stake_label(
                main_bet.name, box_index, n + 1 if main_bet.dealer_hand_count > 1 else None
            )
            required_spot = self._find_required_bet(n, box_index)
            spot = _build_spot(
                format_spot_id(name, box_index), name, names, "1:1", limits.build_spot_fields(), required_spot
            )
            spots.append(
                replace(
                    spot,
                    reserve_per_credit=self._added_stake_factor_max,
                    optional_per_credit=self._insurance_factor_max,
                    excluded_spots=self._back_spot_ids,
                )
            )
        if definition.house_rules.insurance_odds is not None:
            insurance_limits = SpotLimits(
                bet_min=limits.bet_min // 2,
                bet_max=main_bet.dealer_hand_count * limits.bet_max // 2,
                bet_step=1,
                worth_cents=None,
                required_multiple_max=None,
            )
            names = self._build_stake_label(INSURANCE_TEXT, box_index)
            odds = definition.house_rules.insurance_odds.text
            spot = _build_spot(
                format_spot_id(INSURANCE_SPOT, box_index),
                INSURANCE_SPOT,
                names,
                odds,
                insurance_limits,
                main_spot,
            )
            spots.append(replace(spot, accepts_bets=False, added_bet_multiples=("1/2",)))
        for side in definition.side_bets:
            best_odds = max((row.odds for row in side.rows), key=lambda odds: (odds.level_share, odds.net))
            names = self._build_stake_label(side.name, box_index)
            spot = _build_spot(
                format_spot_id(side.id, box_index),
                side.id,
                names,
                best_odds.text,
                side.limits.build_spot_fields(),
                main_spot,
            )
            spots.append(replace(spot, required_multiple_max=1) if side.is_limited_by_main_bet else spot)
        return spots

    @property
    def _added_stake_factor_max(self) -> Fraction:
        """Return the most that splits and doubles may add to a stake, as a multiple of the stake."""
        rules = self.definition.house_rules
        hands_max, can_double = rules.split_rules.hands_max, bool(rules.double_rules.permitted_totals)
        stake_units = (
            2 * hands_max
            if can_double and rules.double_rules.is_permitted_after_split
            else max(hands_max, 1 + can_double)
        )
        return Fraction(stake_units - 1)

    @property
    def _insurance_factor_max(self) -> Fraction:
        """Return the most that insurance may add to a stake, as a multiple of the stake."""
        return Fraction(0) if self.definition.house_rules.insurance_odds is None else Fraction(1, 2)

    def _find_required_bet(self, dealer_hand_index: int, box_index: int) -> str | None:
        """Return the spot that must also be bet on for a bet against one of the dealer's hands, or None.

        ``dealer_hand_index`` is the index of the dealer's hand. The player must bet against the first
        ``dealer_hands_min`` of the dealer's hands, so each of these bets requires the next one, in a circle. A bet
        against a later hand requires the one against the hand before it.
        """
        dealer_hands_min = self.definition.main_bet.dealer_hands_min
        if dealer_hand_index >= dealer_hands_min:
            return format_spot_id(SPOTS_BY_DEALER_HAND[dealer_hand_index - 1], box_index)
        return (
            format_spot_id(SPOTS_BY_DEALER_HAND[(dealer_hand_index + 1) % dealer_hands_min], box_index)
            if dealer_hands_min > 1
            else None
        )

    def _build_stake_label(
        self, bet_name: Text, box_index: int, hand_number: int | None = None
    ) -> dict[str, str]:
        """Return a stake's label by language: the bet's name, and the numbers of hand and box if there are several."""
        names = bet_name.model_dump()
        if hand_number is not None:
            names = {language: f"{text} {hand_number}" for language, text in names.items()}
        if self.definition.box_count > 1:
            box_names = _BOX_NAME.model_dump()
            names = {
                language: f"{text}, {box_names[language].format(box_index + 1)}"
                for language, text in names.items()
            }
        return names

    @property
    def shared_state_fields(self) -> frozenset[str]:
        """Return the field of the table state that all seats share: the shoe for every box."""
        return frozenset({"shoe"})

    def build_wager(self, credits_: int, **options: object) -> Wager:
        """Return the wager of ``credits_`` after checking it, bets on hands of other seats included.

        Raises WagerError.
        """
        accepted_wager = super().build_wager(credits_, **options)
        self._check_back_bets(accepted_wager)
        if self.definition.table.win_max_credits is not None:
            return_by_seat = {
                seat: self._find_highest_return(bets) for seat, bets in accepted_wager.bets_by_seat.items()
            }
            self.table_layout.check_highest_win(return_by_seat)
        return accepted_wager

    def _check_back_bets(self, wager: Wager) -> None:
        """Check a wager's bets on hands of other seats (Québec s. 16). Raises WagerError.

        The hand must be dealt in the round. All bets on one hand together may not exceed the limit of one
        bet; if they do, the bets of lower seat numbers are accepted first. In a round of several seats the
        error is a RefusedRoundError, because the seats that bet are only known when betting closes.
        """
        if wager.seat is None and "seats" not in wager.options:
            return
        credits_by_seat_and_spot = {
            (bet.seat, bet.spot): bet.credits for bet in (*wager.bets, *wager.bets_of_other_seats)
        }
        for seat, bets in wager.bets_by_seat.items():
            backed_spots = [spot for spot in self._back_spot_ids if spot in bets]
            for spot in backed_spots:
                hand_seat = self._back_spot_ids.index(spot)
                own_credits, bet_max = (
                    credits_by_seat_and_spot.get((hand_seat, MAIN_SPOT)),
                    self.definition.main_bet.limits.bet_max,
                )
                if own_credits is None:
                    raise RefusedRoundError(
                        "no_hand_to_bet_on",
                        f"bets.{spot}: seat {hand_seat} has no hand in this round",
                        player=hand_seat + 1,
                    )
                credits_of_others = sum(
                    credits_by_seat_and_spot.get((lower_seat, spot), 0) for lower_seat in range(seat)
                )
                if own_credits + credits_of_others + bets[spot] > bet_max:
                    raise RefusedRoundError(
                        "hand_limit_reached",
                        f"bets.{spot}: {format_count(bets[spot], 'credit')} more than the"
                        f" {own_credits + credits_of_others:,} already bet on the hand; {bet_max:,} at most",
                        player=hand_seat + 1,
                    )

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play a round, alone or as one seat of several.

        Raises WagerError if the only seat of a round bets on another seat's hand.
        """
        if wager.seat is None and "seats" not in wager.options and self.count_seats_needed(wager) > 1:
            raise WagerError("bets: a bet on another player's hand needs that player in the round")
        return super().play(wager, draw)

    def count_seats_needed(self, wager: Wager) -> int:
        """Return how many seats a round of this wager needs: two if it includes a bet on another seat's hand."""
        return (
            2
            if any(spot in bets for bets in wager.bets_by_seat.values() for spot in self._back_spot_ids)
            else 1
        )

    @property
    def has_fixed_seats(self) -> bool:
        """Return whether a seat must be the same player position in every round.

        It must if players may bet on the hands of other seats, because such a bet names the seat.
        """
        return bool(self._back_spot_ids)

    def _find_highest_return(self, bets: Mapping[str, int]) -> int:
        """Return an upper bound on the credits that one seat's bets may return.

        It assumes that every hand is split, doubled and won at the best odds.
        """
        rules = self.definition.house_rules
        highest_net = max(
            [
                EVEN_MONEY_ODDS.net,
                *(odds.net for odds in (rules.three_sevens_odds, rules.suited_678_odds) if odds is not None),
            ]
        )
        best_unsplit_net = max(highest_net, rules.blackjack_odds.net)
        return_max = sum(int(bets.get(spot, 0) * (1 + best_unsplit_net)) for spot in self._back_spot_ids)
        for box in range(self.definition.box_count):
            staked_credits = sum(bets.get(format_spot_id(name, box), 0) for name in SPOTS_BY_DEALER_HAND)
            split_return = int(2 * rules.split_rules.hands_max * staked_credits * (1 + highest_net))
            return_max += max(split_return, int(staked_credits * (1 + rules.blackjack_odds.net)))
            for side in self.definition.side_bets:
                best_net = max(row.odds.net for row in side.rows)
                return_max += int(bets.get(format_spot_id(side.id, box), 0) * (1 + best_net))
        return return_max

    def find_highest_round_return(self, wager: Wager) -> int:
        """Return an upper bound on the credits that a round may return to a seat, stakes added in play included."""
        return max(
            map(
                self._find_highest_return,
                self.build_wager(wager.credits, **wager.options).bets_by_seat.values(),
            )
        )

    @cached_property
    def _analysed_house_rules(self) -> AnalysedHouseRules:
        """Return the house rules in the form that a round reads."""
        return self.definition.analysed_house_rules

    @cached_property
    def _best_strategy(self) -> PackedStrategy | None:
        """Return the best strategy that the definition stores, or None if it stores none for these rules."""
        proof = self.definition.proved.get(MAIN_SPOT)
        return None if proof is None else read_strategy(self._analysed_house_rules, proof.policy)

    def with_table_state(self, table_state: object) -> Self:
        """Return the rules with the shoe of a stored table state.

        Raises ValueError if no round can leave this shoe.
        """
        if table_state is not None:
            read_shoe(self.definition.shoe, table_state)
        return self.with_table_fields(table_state=table_state)

    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play one round of blackjack; see :mod:`paytables.blackjack.round`."""
        return BlackjackRound(
            self.definition, self._analysed_house_rules, self._best_strategy, bets, viewer
        ).play(self.table_state, draw)

    # ------------------------------------------------------------ texts and screen data
    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs: spots, hands, and pays other than even money (:file:`paytables/FELTS.md`)."""
        definition, box_count = self.definition, self.definition.box_count * self.definition.table.seat_count
        dealer_hands = [
            {
                "id": DEALER_HAND_ID if n == 0 else f"{DEALER_HAND_ID}-{n + 1}",
                "names": _add_number_to_names(_DEALER_HAND_NAME, n, definition.main_bet.dealer_hand_count),
            }
            for n in range(definition.main_bet.dealer_hand_count)
        ]
        # one box per player: at a table for several, the hands name the seat
        has_one_box = self.definition.box_count == 1
        names = [
            _add_number_to_names(_PLAYER_HAND_NAME, n, 1 if has_one_box and not n else box_count)
            for n in range(box_count)
        ]
        hands: list[dict[str, object]] = [
            {"id": f"box-{n + 1}", "names": name} for n, name in enumerate(names)
        ]
        for other_hand in hands[self.definition.box_count :]:
            # Hands of other players, shown only once they are dealt.
            other_hand["with"] = []
        return {
            "kind": "table",
            "felt": "cards",
            **self.table_layout.to_json(),
            "hands": [*dealer_hands, *hands],
            **self._describe_best_chart(),
            "progressives": side_bets.levels_to_json(definition.progressive_levels),
            "pays": [
                {"name": name, "names": names.model_dump(), "odds": odds.text, "spot": spot}
                for spot, name, names, odds in self.definition.list_every_pay()
            ],
        }

    def _describe_best_chart(self) -> dict[str, object]:
        """Return the stored strategy chart as data for the screen; empty if none is stored for these rules."""
        proof = self.definition.proved.get(MAIN_SPOT)
        if proof is None or self._best_strategy is None:
            return {}
        return {
            "chart": {
                "columns": [*map(str, range(2, TEN_VALUE + 1)), "A"],
                "rows": build_chart_rows(proof.chart),
            }
        }

    def explain_pays(self) -> tuple[str, ...]:
        """Return one English sentence for each blackjack bet: what it pays."""
        return tuple(self.definition.format_pay_table_rows()["en"])

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return an empty tuple: blackjack has no remarks."""
        return ()

    # ------------------------------------------------------------ levels
    def list_levels(self, wager: Wager) -> tuple[LevelParticipation, ...]:
        """Return the progressive level of each side bet in the wager that plays for one."""
        staked_spots = [bet.spot for bet in self.build_wager(wager.credits, **wager.options).bets]
        participations = []
        for level in self.definition.progressive_levels:
            side_bet = self._build_side_bet(level)
            bet_count = sum(staked_spots.count(spot) for spot in side_bet.spots)
            participations += [side_bet.build_level_participation(bet_count)] if bet_count else []
        return tuple(participations)

    def list_every_level(self) -> tuple[LevelParticipation, ...]:
        """Return every progressive level of the side bets, each with the only stake that plays for it."""
        return tuple(
            self._build_side_bet(level).build_level_participation()
            for level in self.definition.progressive_levels
        )

    def _build_side_bet(self, level: SideBetProgressiveLevel) -> SideBet:
        """Return the side bet that plays for a progressive level, with the level's hit rates."""
        side = next(side for side in self.definition.side_bets if side.id == level.spot)
        spots = tuple(format_spot_id(side.id, box) for box in range(self.definition.box_count))
        return SideBet(
            level, spots, side.limits.bet_min, figures.compute_level_share_chances(self.definition, side)
        )

    # ------------------------------------------------------------ figures
    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of every bet; see :mod:`paytables.blackjack.figures`."""
        return figures.analyse(self.definition, depth)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of a wager: any combination of bets of one seat."""
        return figures.analyse_bets(self.definition, self.build_wager(wager.credits, **wager.options))

    def prove(
        self,
        parallel_map: object = None,
        report_progress: Callable[[int, int], None] = figures.ignore_progress_report,
    ) -> dict[str, ProvedFigures]:
        """Compute, in one thread, the exact figures that the definition stores.

        It needs the laboratory packages. ``parallel_map`` is ignored.
        """
        return figures.prove(self.definition, parallel_map, report_progress)

    def verify(self) -> None:
        """Recompute the figures and compare them with the stored ones. Raises :class:`AnalysisError` if they differ."""
        check_stored_proof(self.definition.game.id, self.definition.proved, self.prove)

    def check_definition(self, file: str) -> None:
        """Check that stakes pay whole credits, and that the table accepts the preset bets.

        Raises :class:`DefinitionError`, which names the wrong key.
        """
        definition, rules = self.definition, self.definition.house_rules
        odds = [
            rules.blackjack_odds,
            *(
                special_odds
                for special_odds in (rules.three_sevens_odds, rules.suited_678_odds)
                if special_odds is not None
            ),
        ]
        odds += [] if rules.insurance_odds is None else [_INSURANCE_STAKE_SHARE]
        check_credit_multiples("main.limits", definition.main_bet.limits, odds, file)
        for n, side in enumerate(definition.side_bets):
            check_credit_multiples(f"side.{n}.limits", side.limits, [row.odds for row in side.rows], file)
        pays = {side.id: (side.limits, [row.odds for row in side.rows]) for side in definition.side_bets}
        side_bets.check_levels(definition.progressive_levels, pays, file)
        check_preset_bets(self.table_layout, file)


def _build_spot(
    id_: str,
    group: str,
    names: Mapping[str, str],
    odds: str,
    limits: SpotLimits,
    required_spot: str | None,
) -> Spot:
    """Return a betting spot with these limits."""
    return Spot(id=id_, group=group, names=names, odds=odds, required_spot=required_spot, **limits)


def _add_number_to_names(name: Text, index: int, name_count: int) -> dict[str, str]:
    """Return a name by language, numbered by ``index`` if more than one thing has the name (``name_count``)."""
    return {
        language: f"{text} {index + 1}" if name_count > 1 else text
        for language, text in name.model_dump().items()
    }
