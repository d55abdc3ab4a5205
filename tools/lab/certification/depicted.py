"""The check that depicted objects have their real odds: cards, balls, dice, wheels, reels.

A round is replayed with scripted draws. At each draw every possible number is tried in turn, and the displays
that follow are compared: numbers with the same display represent the same piece (one card, one ball, one
pocket). For each piece, the check counts the drawn numbers that lead to it, and compares this count with the
real object. So a card that no number deals, or that two numbers deal, is detected, also in a game with its own
drawing code.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from paytables import BetAnalysis, Choice, Decision, Game, RecordingDrawSource, Wager
from paytables.contract import DIE_FACES, RoundEvents
from paytables.game import GameRules
from paytables.keno.rules import KenoRules
from paytables.keno.schema import MultiplierBonus
from paytables.poker.paigow.rules import DEAL_POSITION_COUNT
from paytables.poker.two_hands import TwoHandsRules
from paytables.poker.video.rules import VideoPokerRules
from paytables.reels.bonus import WheelBonus
from paytables.reels.enumerated import CascadingReels, HeldReels
from paytables.reels.rules import ReelRules
from paytables.reels.spin import ReelSpinStage
from paytables.reels.stage import ReelSet
from paytables.wording import format_count
from tools.lab.certification.finding import CertificationCase, Finding, FindingStatus, status_from_check

#: The requirements that the check covers.
_COVERED_REQUIREMENT_IDS: Final = ("B-09", "B-10", "B-17")
#: For each decision policy: the function that returns the index of the option chosen, given the number of earlier
#: decisions and the number of options offered.
OPTION_CHOOSER_BY_POLICY: Final[Mapping[str, Callable[[int, int], int]]] = {
    "always the first option": lambda _decisions, _options: 0,
    "always the last": lambda _decisions, options: options - 1,
    "by turns": lambda earlier_decisions, options: earlier_decisions % options,
}
#: The number of different cards in a pack, by the game's id, if it is not 52.
_PACK_CARD_COUNT_BY_GAME: Final = {"super-pan-9": 36}
#: The draw that decides which position gets the first cards of Pai Gow poker.
_FIRST_POSITION_DRAW_PURPOSE: Final = "first position"


@dataclass(frozen=True, slots=True)
class RealObject:
    """The real object that a random draw depicts, such as a deck, a die or a wheel."""

    piece_counts: Collection[int]
    """How many equal pieces there are of each kind; a deck of cards has 52 kinds with 1 piece each."""
    is_replaced: bool = False
    """Whether a drawn piece can be drawn again, as with a die or a wheel."""
    may_be_several_packs: bool = False
    """Whether the object may be several packs of cards mixed together."""

    def can_draw_from(self, bound: int, earlier_bounds: Collection[int]) -> bool:
        """Return whether a draw below ``bound`` can take one piece of this object, given the earlier draws.

        ``earlier_bounds`` has the bounds of the earlier draws. A deck has one piece fewer after each
        draw; a die or a wheel always has the same number.
        """
        total = sum(self.piece_counts)
        if bound == total or (self.may_be_several_packs and bound % total == 0):
            return True
        return not self.is_replaced and bound + 1 in earlier_bounds

    def can_have_piece_counts(self, counts: Collection[int]) -> bool:
        """Return whether this object can have pieces of these kinds, given how many equal pieces each kind has.

        A single deck has no two equal cards; several packs mixed together have each card once per pack.
        ``counts`` has one number per kind.
        """
        pack_count = -(-sum(counts) // sum(self.piece_counts))
        count_pairs = zip(sorted(counts, reverse=True), sorted(self.piece_counts, reverse=True), strict=False)
        return len(counts) <= len(self.piece_counts) and all(
            count <= pack_count * real_count for count, real_count in count_pairs
        )


def build_real_object(game: Game, purpose: str) -> RealObject:
    """Return the real object (deck, die, wheel) that the draw for ``purpose`` depicts."""
    rules = game.rules
    if isinstance(rules, KenoRules):
        for bonus in rules.definition.bonuses:
            if isinstance(bonus, MultiplierBonus) and bonus.id == purpose:
                return RealObject(tuple(bonus.weight_by_factor.values()), is_replaced=True)
        return RealObject((1,) * rules.definition.field.number_count)
    if isinstance(rules, TwoHandsRules) and purpose != _FIRST_POSITION_DRAW_PURPOSE:
        return RealObject(tuple(Counter(rules.PIECE_NAMES).values()))
    if (equal_part_count := _count_equal_parts(rules)) is not None:
        return RealObject((1,) * equal_part_count, is_replaced=True)
    has_joker = isinstance(rules, VideoPokerRules) and rules.definition.deck.has_joker
    return RealObject(
        (1,) * (_PACK_CARD_COUNT_BY_GAME.get(game.family, 52) + has_joker), may_be_several_packs=True
    )


def _count_equal_parts(rules: GameRules) -> int | None:
    """Return the number of equal parts of the displayed object: pockets, faces of a die, table positions.

    The result is None if the game's presentation has neither dice nor a wheel.
    """
    if isinstance(rules, TwoHandsRules):
        return DEAL_POSITION_COUNT
    presentation = rules.build_presentation()
    if "dice" in presentation:
        return DIE_FACES
    parts = presentation.get("wheel", presentation.get("parts"))
    return len(parts) if isinstance(parts, list) else None


# ------------------------------------------------------------------ a round with scripted draws
@dataclass(slots=True)
class _ScriptedDraws:
    """A source of random numbers that returns ``values`` in order; then it always returns an extreme value."""

    values: list[int]
    ends_with_highest: bool
    """Whether the highest possible number, and not 0, is returned after ``values``."""
    draw_count: int = 0
    """The number of draws made."""

    def below(self, bound: int, purpose: str) -> int:  # noqa: ARG002 (the draw is the same for every purpose)
        """Return the next scripted value; after them 0, or ``bound - 1`` if ``ends_with_highest``."""
        self.draw_count += 1
        if self.draw_count <= len(self.values):
            return self.values[self.draw_count - 1]
        return bound - 1 if self.ends_with_highest else 0


class _ReplayedRound:
    """A round that is replayed event by event.

    ``displayed_events`` collects the events displayed since the last scripted draw.
    """

    def __init__(
        self, game: Game, wager: Wager, draw: _ScriptedDraws, policy: Callable[[int, int], int]
    ) -> None:
        self.displayed_events: list[str] = []
        self.ended = False
        self._draw = draw
        self._play: RoundEvents = game.play(wager, draw)
        self._answer: Choice | None = None
        """The choice to send at the next event if the last event was a decision, else None."""
        self._policy, self._decision_count = policy, 0

    def play_event(self) -> None:
        """Play the next event that follows the last scripted draw, and add it to ``displayed_events``."""
        scripted_count = len(self._draw.values)
        while not self.ended:
            try:
                event = self._play.send(self._answer)
            except StopIteration as end:
                self.ended = True
                self.displayed_events.append(repr(end.value))
                return
            self._answer = None
            if isinstance(event, Decision):
                event = event.with_complete_prompt()  # the prompt is displayed
                self._answer = Choice(event.options[self._policy(self._decision_count, len(event.options))])
                self._decision_count += 1
            if self._draw.draw_count >= scripted_count:
                self.displayed_events.append(repr(event))
                return


@dataclass(frozen=True, slots=True)
class _PlayedRound:
    """A round that was played: the game at its start, the wager, the decision policy, and the draws."""

    game: Game
    wager: Wager
    policy: Callable[[int, int], int]
    """The decision policy: a function of the decision's index and number of options; it returns an option's index."""
    draws: list[tuple[int, int, str]] = field(default_factory=list)
    """The random numbers drawn, as (bound, value, purpose)."""

    def count_numbers_by_display(self, draw_index: int, real_object: RealObject) -> Collection[int]:
        """Return, for each distinguishable display, how many numbers of the draw at ``draw_index`` lead to it.

        The round is replayed for each number, all replays event by event together, until the numbers can be
        told apart as well as real pieces can: a piece dealt face down is only identified by later events. Each number
        is replayed twice, because two pieces may be told apart by only one of the two continuations: the later draws
        return 0 in one replay, and the highest possible number in the other.
        """
        earlier_values = [value for _, value, _ in self.draws[:draw_index]]
        replay_pairs = [
            [
                _ReplayedRound(
                    self.game,
                    self.wager,
                    _ScriptedDraws([*earlier_values, value], ends_with_highest),
                    self.policy,
                )
                for ends_with_highest in (False, True)
            ]
            for value in range(self.draws[draw_index][0])
        ]
        while True:
            for replay in (replay for replay_pair in replay_pairs for replay in replay_pair):
                replay.play_event()
            counts = Counter(
                tuple(tuple(replay.displayed_events) for replay in replay_pair)
                for replay_pair in replay_pairs
            ).values()
            if real_object.can_have_piece_counts(counts) or all(
                replay.ended for replay_pair in replay_pairs for replay in replay_pair
            ):
                return counts


def _iter_played_rounds(case: CertificationCase) -> Iterator[_PlayedRound]:
    """Yield a played round for each bet and decision policy."""
    for bet in case.analysis.bets:
        game = case.game if bet.table is None else case.game.with_table_state(bet.table)
        wager = build_wager(game, bet)
        for policy in OPTION_CHOOSER_BY_POLICY.values():
            draw = RecordingDrawSource(case.draw_source)
            round_events, choice, decision_count = game.play(wager, draw), None, 0
            try:
                while True:
                    event = round_events.send(choice)
                    choice = None
                    if isinstance(event, Decision):
                        choice = Choice(event.options[policy(decision_count, len(event.options))])
                        decision_count += 1
            except StopIteration:
                yield _PlayedRound(game, wager, policy, draw.records)
            if not decision_count:  # without decisions, all policies play the same round
                break


def build_wager(game: Game, bet: BetAnalysis) -> Wager:
    """Return the wager that places a bet and the other bets that it requires.

    If players play against each other, the wager has the bets of all seats, so that the round shows every
    card.
    """
    own_bets = {**bet.options.get("bets", {}), **bet.required_bets}
    if "others" in bet.options:
        seats = {str(bet.options["seat"]): own_bets, **bet.options["others"]}
        return game.build_wager(sum(sum(bets.values()) for bets in seats.values()), seats=seats)
    wager_options = {**bet.options, "bets": own_bets} if bet.required_bets else bet.options
    return game.build_wager(bet.cost_credits + sum(bet.required_bets.values()), **wager_options)


def check_depicted_odds(case: CertificationCase) -> Iterator[Finding]:
    """Check that each draw gives every piece (card, ball, pocket) the same odds as the real object that it depicts.

    Every number of a draw is tried. One finding is yielded per kind of draw.
    """
    if isinstance(case.game.rules, ReelRules):
        yield from _check_reels(case, case.game.rules)
        return
    draw_kinds: set[str] = set()
    numbers_tried = 0
    for played_round in _iter_played_rounds(case):
        new_kinds = {_replace_numbers(purpose) for _, _, purpose in played_round.draws} - draw_kinds
        draw_kinds |= new_kinds
        for draw_index, (bound, _, purpose) in enumerate(played_round.draws):
            if _replace_numbers(purpose) not in new_kinds:
                continue
            real_object = build_real_object(case.game, purpose)
            earlier_bounds = {earlier_bound for earlier_bound, _, _ in played_round.draws[:draw_index]}
            if not real_object.can_draw_from(bound, earlier_bounds):
                evidence = (
                    f"{purpose}: drawn from {bound:,} numbers, "
                    f"but {sum(real_object.piece_counts)} pieces are depicted"
                )
                yield Finding("depicted-odds", _COVERED_REQUIREMENT_IDS, FindingStatus.FAIL, evidence)
                return
            piece_counts = played_round.count_numbers_by_display(draw_index, real_object)
            if not real_object.can_have_piece_counts(piece_counts):
                evidence = (
                    f"{purpose}: {bound:,} numbers show {format_count(len(piece_counts), 'different piece')}, one of "
                    f"which comes from {format_count(max(piece_counts), 'number')}; the real object has fewer of it"
                )
                yield Finding("depicted-odds", _COVERED_REQUIREMENT_IDS, FindingStatus.FAIL, evidence)
                return
            numbers_tried += bound
    if not numbers_tried:
        evidence = "no number is drawn, because a physical wheel decides"
        yield Finding("depicted-odds", _COVERED_REQUIREMENT_IDS, FindingStatus.NOT_APPLICABLE, evidence)
        return
    names = ", ".join(sorted(draw_kinds))
    evidence = (
        f"{format_count(numbers_tried, 'drawn number')} tried: each piece is as likely as with the real object"
        f" ({names})"
    )
    yield Finding("depicted-odds", _COVERED_REQUIREMENT_IDS, FindingStatus.PASS, evidence)


def _replace_numbers(purpose: str) -> str:
    """Return the purpose of a draw with ``n`` for each number in it, such as ``die n`` for ``die 2``."""
    return re.sub(r"\d+", "n", purpose)


# ------------------------------------------------------------------ reels
def _check_reels(case: CertificationCase, rules: ReelRules) -> Iterator[Finding]:
    """Check that each stage displays its reels and wheels at the stops that were drawn."""
    for name, stage in rules.list_shown_stages().items():
        reels = stage.reels if isinstance(stage, ReelSpinStage | CascadingReels | HeldReels) else None
        for reel, weights in enumerate(reels.stop_weights if reels else ()):
            if reels and (reel_error := _find_reel_error(reels, reel)):
                status, evidence = FindingStatus.FAIL, reel_error
            elif set(weights) == {1}:
                status, evidence = FindingStatus.PASS, f"{format_count(len(weights), 'equally likely stop')}"
            elif 0 in weights:
                status = FindingStatus.FAIL
                evidence = f"{weights.count(0)} of {len(weights)} stops are displayed but never drawn"
            else:
                status, evidence = FindingStatus.NOTED, f"{len(weights)} stops that are not equally likely"
            yield Finding(
                "depicted-odds", _COVERED_REQUIREMENT_IDS, status, f"{name}, reel {reel + 1}: {evidence}"
            )
        if isinstance(stage, WheelBonus):
            draw = RecordingDrawSource(case.draw_source)
            part_count = len(stage.run(draw).display["parts"])
            are_bounds_right = [bound for bound, _, _ in draw.records] == [part_count]
            displayed_parts = [
                stage.run(_ScriptedDraws([part], ends_with_highest=False)).display["part"]
                for part in range(part_count)
            ]
            evidence = f"{name}: {format_count(part_count, 'equal part')} of the wheel"
            is_correct = are_bounds_right and sorted(displayed_parts) == list(range(part_count))
            yield Finding(
                "depicted-odds", _COVERED_REQUIREMENT_IDS, status_from_check(ok=is_correct), evidence
            )


def _find_reel_error(reels: ReelSet, reel: int) -> str:
    """Return a text on the first reel stop that is not drawn as often as its weight says, or "" without one.

    Every number of the draw is tried.
    """
    weights = reels.stop_weights[reel]
    total = sum(weights)
    spin_counts = Counter(
        reels.spin(_ScriptedDraws([0] * reel + [value], ends_with_highest=False))[reel]
        for value in range(total)
    )
    respin_counts = Counter(
        reels.spin_some_reels(_ScriptedDraws([value], ends_with_highest=False), [reel])[reel]
        for value in range(total)
    )
    for verb, counts in (("drawn", spin_counts), ("drawn again", respin_counts)):
        for stop, weight in enumerate(weights):
            if counts[stop] != weight:
                return f"stop {stop + 1} is {verb} for {counts[stop]} of {total:,} numbers, but its weight is {weight}"
    return ""
