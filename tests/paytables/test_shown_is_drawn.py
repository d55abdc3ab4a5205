"""What is shown is what was drawn: no losing window is dressed up, and no prize is offered that cannot be won."""

from bisect import bisect_right
from itertools import accumulate

import pytest
from rigs.library import REELS
from rigs.rounds import questions

from paytables import Choice, Depth, RecordingDraw, analyse, load_game


@pytest.mark.requirement("B-17", "B-12", "C-22")
@pytest.mark.parametrize("name", REELS)
def test_every_prize_that_is_shown_can_be_won_at_every_bet_that_shows_it(name):
    game = load_game(name)
    analysis = {bet.bet: bet for bet in analyse(game, Depth.PRIZES).bets}
    for offered in game.presentation()["bets"]:
        won = {p.name for p in analysis[offered["mode"]].prizes if p.rate}
        for pay in offered["pays"]:
            if pay["credits"] or pay["gives"]:
                assert pay["name"] in won


def window_of(strips, heights, stops):
    return [
        [strip[(stop + row) % len(strip)] for row in range(height)]
        for strip, height, stop in zip(strips, heights, stops, strict=True)
    ]


@pytest.mark.requirement("B-17", "B-10")
@pytest.mark.parametrize("name", REELS)
def test_every_window_is_the_strips_at_the_stops_that_were_drawn(name, seeded_draw):
    """So a near miss comes exactly as often as chance makes it: nothing chooses between losing windows."""
    game = load_game(name)
    shown = game.presentation()
    for seed in range(40):
        draw = RecordingDraw(seeded_draw(seed))
        play = questions(game, game.wager(max(game.bet_options)), draw)
        try:
            decision = next(play)
            while True:
                wanted = decision.prompt.get("advice", decision.options[0])
                decision = play.send(Choice(wanted))
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
