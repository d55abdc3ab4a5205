"""The table of pays of a game of cards: each row at the bet in force, and what was won of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from egm.screen.painter import Rect, Style
from egm.screen.scenes.stage import Stage, caption
from egm.screen.steps import TableStep
from egm.screen.table import is_table
from egm.screen.view import last_step, playing

#: A row of pays is so high on a telephone.
PAY: Final = 34.0


def pays_of(stage: Stage) -> list[Mapping[str, Any]]:
    """The rows of the game's table of pays, the highest first."""
    game = stage.view.game
    return list(game.presentation.get("pays", ())) if game is not None and is_table(game) else []


def draw_pays(stage: Stage, rect: Rect, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows of the table of pays at the bet in force; the one that was won is lit."""
    p, (x, y, w, h) = stage.painter, rect
    step = min(52.0, h / max(1, len(rows)))
    won, times = _won(stage), _times(stage)
    for i, pay in enumerate(rows):
        middle = y + (i + 0.5) * step
        if pay["name"] == won or pay["name"] in times:
            p.panel((x, middle - step / 2 + 1, w, step - 2), radius=8, fill=(122, 66, 8, 255), edge="meter")
        size = "small" if step > 40 else "caption"
        words = stage.texts.local(pay["names"])
        if times:
            count = times[str(pay["name"])]
            words = stage.texts.say("felt.times", count=count, name=words) if count else words
        p.text(words, (x + 10, middle), Style("strong", size, "text"), align="left", width=w * 0.68)
        style = Style("numbers", "body" if step > 40 else "small", "meter")
        p.text(paid(stage, pay), (x + w - 10, middle), style, align="right", width=w * 0.27)


def _won(stage: Stage) -> str:
    """The pay that the hand on the table won, or has when cards are to be held."""
    step, view = last_step(stage.view), stage.view
    if not isinstance(step, TableStep) or view.snapshot is None:
        return ""
    taken = view.snapshot.state == "idle" and not view.snapshot.win_cents and view.decision is None
    return "" if taken or playing(view, stage.theme) else str(step.display.get("won") or "")


def _times(stage: Stage) -> Counter[str]:
    """How many of several hands won each pay; nothing of one hand."""
    step = last_step(stage.view)
    if not _won(stage) or not isinstance(step, TableStep):
        return Counter()
    hands = step.display.get("hands", ())
    return Counter(str(hand["won"]) for hand in hands if hand.get("won")) if len(hands) > 1 else Counter()


def paid(stage: Stage, pay: Mapping[str, Any]) -> str:
    """What a row pays: at the bet in force where the game says it bet by bet."""
    if "odds" in pay:
        return str(pay["odds"])
    snapshot = stage.view.snapshot
    if snapshot is None:
        return stage.texts.number(int(pay.get("credits", 0)))
    by_bet = pay.get("by_credits", {})
    bet = str(snapshot.bet_credits // _hands_bought(stage))
    return stage.texts.number(int(by_bet.get(bet, pay.get("credits", 0))))


def _hands_bought(stage: Stage) -> int:
    """How many hands the bet in force buys: as the player said, else the fewest that fit its price."""
    snapshot, game = stage.view.snapshot, stage.view.game
    if snapshot is None or game is None:
        return 1
    if "hands" in snapshot.bet_wager:
        return max(1, int(snapshot.bet_wager["hands"]))
    bets = game.presentation.get("bets", {})
    for hands in map(int, bets.get("hands", ())):
        each, rest = divmod(snapshot.bet_credits, hands)
        if not rest and each in bets["credits"]:
            return hands
    return 1


def _heading(stage: Stage) -> str:
    """What the table of pays is of: several hands say how many they are, and what is bet on each."""
    hands, snapshot = _hands_bought(stage), stage.view.snapshot
    if hands == 1 or snapshot is None:
        return stage.texts.say("felt.pays")
    amount = stage.money(snapshot.bet_credits // hands * snapshot.denomination_cents)
    return stage.texts.say("felt.hands_at", hands=hands, amount=amount)


def pays_glasses(stage: Stage) -> bool:
    """The table of pays on the left glass, upright on both; False where the game has none."""
    rows, layout = pays_of(stage), stage.layout
    if not rows or layout.slim:
        return bool(rows)
    heading, room = _heading(stage), layout.left[3] - 62 - 60
    half = -(-len(rows) // 2) if layout.portrait else len(rows)
    for (gx, gy, gw, _), part in ((layout.left, rows[:half]), (layout.right, rows[half:])):
        if part:
            caption(stage, heading, (gx + 10, gy + 10, gw - 20, 40))
            draw_pays(stage, (gx + 12, gy + 54, gw - 24, room), part)
    return True
