"""The display matches the draws: no losing window is altered, and no prize is shown that cannot be won."""

from bisect import bisect_right
from itertools import accumulate

import pytest
from rigs.library import REELS
from rigs.rounds import play_decisions

from egm.testing.machine import ScriptedStep
from paytables import AnalysisDepth, Choice, RecordingDrawSource, Round, analyse, load_game
from paytables.cards.card import JOKER, format_card
from paytables.definition import list_shipped_games
from paytables.poker.tiles.tiles import ALL_TILES
from tools.lab.certification.depicted import build_wager
from tools.lab.simulation import choose_as_player


@pytest.mark.requirement("B-17", "B-12", "C-22")
@pytest.mark.parametrize("name", REELS)
def test_every_prize_that_is_shown_can_be_won_at_every_bet_that_shows_it(name):
    game = load_game(name)
    analysis = {bet.bet: bet for bet in analyse(game, AnalysisDepth.PRIZES).bets}
    for offered in game.build_presentation()["bets"]:
        won = {p.name for p in analysis[offered["mode"]].prizes if p.rate}
        for pay in offered["pays"]:
            if pay["credits"] or pay["gives"]:
                assert pay["name"] in won


def window_of(strips, heights, stops):
    return [
        [strip[(stop + row) % len(strip)] for row in range(height)]
        for strip, height, stop in zip(strips, heights, stops, strict=True)
    ]


@pytest.mark.requirement("A-20")
@pytest.mark.parametrize("name", REELS)
def test_the_reels_shown_before_the_first_game_are_not_a_win_at_any_bet(name):
    """After a memory clear there is no last game, and the reels show a window without a win."""
    game = load_game(name)
    shown = game.build_presentation()
    for bet in game.bet_options:
        wager = game.build_wager(bet)
        (stage,) = [bet["stage"] for bet in shown["bets"] if bet["mode"] == wager.options["mode"]]
        weights, rest_stops = shown["stages"][stage]["weights"], shown["stages"][stage]["rest"]
        values = [sum(w[:stop]) if w else stop for w, stop in zip(weights, rest_stops, strict=True)]
        round_ = Round(game.play(wager, ScriptedStep(values)), wager)
        round_.advance()
        if round_.decision is not None:
            round_.advance(Choice(round_.decision.options[-1]))  # all reels are held
        assert round_.outcome.display["steps"][0]["stops"] == rest_stops
        assert (round_.outcome.returned_credits, round_.outcome.display["wins"]) == (0, [])


@pytest.mark.requirement("B-17", "B-10", "B-08")
@pytest.mark.parametrize("name", REELS)
def test_every_window_shows_the_strips_at_the_drawn_stops(name, seeded_draw):
    """A near miss therefore occurs exactly as often as chance makes it."""
    game = load_game(name)
    shown = game.build_presentation()
    for seed in range(40):
        draw = RecordingDrawSource(seeded_draw(seed))
        play = play_decisions(game, game.build_wager(max(game.bet_options)), draw)
        try:
            decision = next(play)
            while True:
                expected = decision.prompt.get("advice", decision.options[0])
                decision = play.send(Choice(expected))
        except StopIteration as end:
            outcome = end.value
        drawn = [(p, v) for _, v, p in draw.records if ".reel" in p]
        for step in outcome.display["steps"]:
            if "stops" not in step:
                continue
            stage = shown["stages"][step["stage"]]
            stops = list(step.get("first_stops", step["stops"]))
            for x, stop in enumerate(stops):
                purpose, value = drawn.pop(0)
                assert purpose == f"{step['stage']}.reel{x + 1}"
                weights = stage["weights"][x]
                assert stop == (value if weights is None else bisect_right(list(accumulate(weights)), value))
            if "held" in step:
                for x, stop in enumerate(step["stops"]):
                    if not step["held"] >> x & 1:
                        assert drawn.pop(0) == (f"{step['stage']}.reel{x + 1}", stop)
            assert step["window"] == window_of(stage["strips"], stage["heights"], step["stops"])
        assert not drawn


#: The cards of each shoe, in their order; other numbers of cards are whole decks.
_DECK = [format_card(card) for card in range(52)]
DECK_ORDER = [*_DECK, format_card(JOKER), *ALL_TILES]
DECKS = {
    52: _DECK,
    53: [*_DECK, format_card(JOKER)],
    32: list(ALL_TILES),
    288: [card for card in _DECK if card[0] not in "789T"] * 8,  # super pan 9
}


def play_and_record(name, draw):
    """Return the numbers drawn in a round of the game's first bet, as (bound, value, purpose), and its display."""
    game = load_game(name)
    bet = analyse(game, AnalysisDepth.RETURN).bets[0]
    table = game if bet.table is None else game.with_table_state(bet.table)
    wager = build_wager(table, bet)
    recording = RecordingDrawSource(draw)
    played = Round(table.play(wager, recording), wager)
    played.advance()
    while played.decision is not None:
        played.advance(choose_as_player(played.decision, draw))
    return recording.records, played.outcome.display


def list_drawn_cards(records):
    """Return the names of the drawn cards or tiles in order, each from what was left of its shoe."""
    names, names_left = [], []
    for bound, value, purpose in records:
        if purpose == "first position":  # who is dealt to first
            continue
        if len(names_left) != bound:
            names_left = sorted(
                DECKS[bound] if bound in DECKS else DECKS[52] * (bound // 52), key=DECK_ORDER.index
            )
            assert len(names_left) == bound, f"{purpose}: one of {bound}"
        names.append(names_left.pop(value))
    return names


@pytest.mark.requirement("B-07")
@pytest.mark.parametrize(
    ("name", "question", "options"),
    [
        ("all-american", "hold", {}),
        ("quebec-blackjack", "blackjack", {"bets": {"main": 2}}),
        ("quebec-blackjack-progressive-1", "insurance", {"bets": {"main": 2}}),
        ("quebec-multi-action-blackjack", "blackjack", {"bets": {"main": 2, "second": 2}}),
        ("quebec-caribbean-stud", "raise", {"bets": {"ante": 1}}),
        ("quebec-let-it-ride", "second-bet", {"bets": {"bet-3": 1, "bet-1": 1, "bet-2": 1}}),
        ("quebec-pai-gow", "set", {"bets": {"stake": 20}}),
        ("quebec-pai-gow-poker", "set", {"bets": {"stake": 20}}),
        ("quebec-red-dog", "red-dog", {"bets": {"ante": 1}}),
        ("quebec-super-pan-9", "super-pan", {"bets": {"stake": 20}}),
        ("quebec-texas-holdem-room", "betting", {"seats": {"0": {"stack": 160}, "1": {"stack": 160}}}),
        ("quebec-war", "war", {"bets": {"main": 2}}),
        ("hold-fast", "hold", {}),
        ("orchard-picnic", "pick", {}),
    ],
)
def test_only_numbers_shown_before_a_decision_are_drawn_before_it(name, question, options, seeded_draw):
    """Replacement cards, further cards and the contents of a box are drawn after the player's choice."""
    game, decision_kinds = load_game(name), set()
    bets = options.get("seats", {"0": options.get("bets")}).values()
    staked = sum(credits_ for bet in bets for credits_ in bet.values()) if options else max(game.bet_options)
    wager = game.build_wager(staked, **options)
    for seed in range(100):
        draw, shown = RecordingDrawSource(seeded_draw(f"{name} {seed}")), 0
        played = Round(game.play(wager, draw), wager)
        played.advance()
        while played.decision is not None:
            decision_kinds.add(played.decision.kind)
            purposes = [purpose for _, _, purpose in draw.records]
            shown += sum(cue.kind in {"deal", "draw", "position"} for cue in played.cues)
            if name in REELS:  # their windows are shown, with the draws of each earlier choice
                purposes = [purpose for purpose in purposes if ".reel" not in purpose]
            assert len(purposes) == shown, purposes
            shown += played.decision.kind == "pick"
            played.advance(Choice(played.decision.options[0]))
        if question in decision_kinds:
            return
    pytest.fail(f"{name} asked only {decision_kinds}")


@pytest.mark.requirement("B-08", "M-19:b")
@pytest.mark.parametrize("name", [name for name in list_shipped_games() if name not in REELS])
def test_the_display_of_a_round_matches_its_drawn_numbers(name, seeded_draw):
    """Balls, parts of a wheel, dice and cards are derived from the numbers, without the game's own evaluation."""
    records, display = play_and_record(name, seeded_draw(f"shown {name}"))
    if display["kind"] == "keno":
        balls_left = list(range(1, display["numbers"] + 1))
        balls = [balls_left.pop(value) for _, value, purpose in records if purpose.startswith("ball ")]
        assert [draw["balls"] for draw in display["draws"]] == [balls]
    elif display["kind"] == "wheel":
        assert [step["part"] for step in display["steps"]] == [value for _, value, _ in records]
        assert all(step["parts"][step["part"]]["item"] == step["symbol"] for step in display["steps"])
    elif "part" in display:
        parts = load_game(name).rules.segments
        assert [display["part"]] == [value for _, value, _ in records]
        assert display["result"] == display["pocket"] == parts[display["part"]]
    elif "dice" in display:
        assert display["dice"] == [1 + value for _, value, _ in records]
        assert (display["total"], display["result"]) == (
            sum(display["dice"]),
            "-".join(map(str, display["dice"])),
        )
    else:
        shown = {card for hand in display["hands"] for card in hand["cards"]} - {"??"}  # a face-down card
        assert shown
        assert shown <= set(list_drawn_cards(records))
