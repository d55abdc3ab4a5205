"""Every decision that a table offers has a text and advice, and its raises are reserved.

A bet with decisions states the returns of the best and the worst play.

The tests play some rounds of each kind of bet of every table, with the advised answers.
"""

import re
from collections.abc import Mapping
from fractions import Fraction

import pytest

from egm.screen.text import LOCALE_BY_LANGUAGE, Texts
from paytables import AnalysisDepth, analyse, list_table_games, load_game
from paytables.contract import NO_SEAT, Choice, Round
from paytables.poker.room.rules import RoomRules
from tools.dev.gallery import FixedDraws
from tools.lab.certification.depicted import build_wager
from tools.lab.simulation import choose_as_player

#: Rounds of a bet: number that must add a stake, or that must have a decision, and the maximum in total.
ADDING, ASKING, ROUNDS = 3, 10, 60
#: Texts of a round that are equal in both languages.
SAME_IN_FRENCH = {"Blackjack", "Gong", "Wong", "point", "points"}


def play_rounds(name):
    """Yield each bet with its wager and, for each round, the players' decisions, the added stakes and the display."""
    game, draw = load_game(name), FixedDraws(name)
    for bet in analyse(game, AnalysisDepth.RETURN).bets:
        table = game if bet.table is None else game.with_table_state(bet.table)
        wager = build_wager(table, bet)
        asking = adding = rounds = 0
        while adding < ADDING and asking < ASKING and rounds < ROUNDS:
            played, decisions, added = Round(table.play(wager, draw), wager), [], {}
            played.advance()
            while (decision := played.decision) is not None:
                answer = choose_as_player(decision, draw)
                if decision.seat != NO_SEAT:
                    decisions.append(decision)
                    added[decision.seat] = added.get(decision.seat, 0) + decision.get_added_credits(
                        answer.value
                    )
                played.advance(answer)
            rounds, asking, adding = rounds + 1, asking + bool(decisions), adding + any(added.values())
            yield table, bet, wager, decisions, added, played.outcome.display


def has_text(texts, option):
    name, _, count = option.rpartition("-")
    return texts.has_text(f"decide.{option}") or (count.isdecimal() and texts.has_text(f"decide.{name}"))


def iter_translations(data):
    """Yield each text that the data has by language, English first."""
    if isinstance(data, Mapping) and data.keys() == {"en", "fr"}:
        yield data["en"], data["fr"]
    elif isinstance(data, Mapping | list | tuple):
        for part in data.values() if isinstance(data, Mapping) else data:
            yield from iter_translations(part)


@pytest.mark.requirement("C-10:a", "C-18")
@pytest.mark.parametrize("name", list_table_games())
def test_decisions_have_texts_advice_and_returns_and_their_stakes_are_reserved(name):
    texts = [Texts(language) for language in LOCALE_BY_LANGUAGE]
    for game, bet, wager, decisions, added, display in play_rounds(name):
        options = {option for decision in decisions for option in decision.options if isinstance(option, str)}
        silent = {option for option in options if not all(has_text(text, option) for text in texts)}
        assert silent == set(), (
            f"[decide] of egm/screen/catalogue lacks a text in a language for {sorted(silent)}"
        )
        shown = iter_translations([display, *(decision.prompt for decision in decisions)])
        alike = [english for english, french in shown if english == french]
        untranslated = {word for text in alike for word in re.findall(r"[A-Za-z]{3,}", text)} - SAME_IN_FRENCH
        assert untranslated == set(), f"{bet.bet}: not in French"
        questions = [decision for decision in decisions if len(decision.options) > 1]
        if not isinstance(game.rules, RoomRules):  # games between players have no best answer
            unadvised = {
                question.kind
                for question in questions
                if question.prompt.get("advice") not in question.options
            }
            assert unadvised == set(), f"{bet.bet}: the best answer is not published"
        is_own = not bet.is_covered_by_players and not bet.required_bets
        if is_own and any(len(decision.options) > 1 for decision in decisions):
            assert bet.strategy, f"{bet.bet}: the figures name no strategy"
            assert bet.worst_rtp is not None, f"{bet.bet}: the figures do not state the worst answers"
        spots = {spot.id: spot for spot in game.rules.list_spots()}
        for seat, credits_ in added.items():
            bets = [bet for bet in wager.bets if bet.seat == seat and bet.spot in spots]
            room = sum((bet.credits * spots[bet.spot].optional_per_credit for bet in bets), Fraction(0))
            reserved = game.rules.compute_raise_reserve(wager) + room
            assert credits_ <= reserved, (
                f"{bet.bet}: answers add {credits_} credits, and {reserved} are reserved"
            )


#: Games whose decisions have advice, of different rules. Video poker and held reels have tests of their own.
ADVISED_GAMES = (
    "quebec-blackjack",
    "quebec-let-it-ride",
    "quebec-pai-gow",
    "quebec-pai-gow-poker",
    "quebec-red-dog",
    "quebec-super-pan-9",
    "quebec-three-card-poker",
    "quebec-war",
)


def play_round(game, number, choose):
    """Return a round's decisions and outcome. Its draws depend on ``number`` only; ``choose`` returns the answers."""
    wager = game.build_wager(game.bet_options[0])
    played, questions = Round(game.play(wager, FixedDraws(f"{game.id}/{number}")), wager), []
    played.advance()
    while (decision := played.decision) is not None:
        questions.append((decision.kind, decision.options, decision.prompt))
        played.advance(choose(decision))
    return questions, played.outcome


def follow_advice(decision):
    return Choice(decision.prompt.get("advice", decision.options[0]))


def choose_against_advice(decision):
    others = [option for option in decision.options if option != follow_advice(decision).value]
    return Choice(others[0]) if others else follow_advice(decision)


@pytest.mark.requirement("C-10:c")
@pytest.mark.parametrize("name", ADVISED_GAMES)
def test_a_decision_against_the_advice_changes_the_round(name):
    """With the same draws, some round ends differently if the player does not follow the advice."""
    game = load_game(name)
    rounds = [play_round(game, number, follow_advice) for number in range(ASKING)]
    assert any("advice" in prompt for questions, _ in rounds for _, _, prompt in questions)
    assert rounds != [play_round(game, number, choose_against_advice) for number in range(ASKING)]


@pytest.mark.parametrize("name", [*ADVISED_GAMES, "jacks-or-better-9-6"])
def test_a_replay_needs_no_prompts(name):
    """The audit replays recorded answers: without the prompts it finds the same options, stakes and outcome."""
    game = load_game(name)
    wager = game.build_wager(game.bet_options[0])
    for number in range(ASKING):
        shown = Round(game.play(wager, FixedDraws(f"{name}/{number}")), wager)
        replayed = Round(game.play(wager, FixedDraws(f"{name}/{number}")), wager, completes_prompts=False)
        shown.advance()
        replayed.advance()
        while (decision := shown.decision) is not None:
            assert (decision.kind, decision.options, decision.stakes, decision.seat) == (
                replayed.decision.kind,
                replayed.decision.options,
                replayed.decision.stakes,
                replayed.decision.seat,
            )
            answer = follow_advice(decision)
            shown.advance(answer)
            replayed.advance(answer)
        assert replayed.outcome == shown.outcome


@pytest.mark.parametrize(
    "name", ["jacks-or-better-9-6", "quebec-blackjack", "quebec-pai-gow", "quebec-three-card-poker"]
)
def test_a_replay_does_not_compute_the_advice(name):
    game = load_game(name)
    wager = game.build_wager(game.bet_options[0])
    for number in range(ROUNDS):
        replayed = Round(game.play(wager, FixedDraws(f"{name}/{number}")), wager, completes_prompts=False)
        replayed.advance()
        if (decision := replayed.decision) is not None:
            assert "advice" not in decision.prompt
            assert decision.with_complete_prompt().prompt["advice"] in decision.options
            return
    pytest.fail("no round asked anything")
