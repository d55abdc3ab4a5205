"""A recorded wager and its prizes in the words of its game: names of modes, areas, spots and symbols."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from egm.kernel.service_pages import Row, Words
from egm.staff.service.words import coded, local, money, number, plain, say
from paytables import Game, Settlement, Wager

Label = tuple[str | Words, Words]
_TIMES: Final = "\u00d7"
#: What a bet is settled as at any table; other names are of a game's own pays.
_SETTLED: Final = frozenset(
    {
        *("won", "lost", "push", "half", "freed", "insured", "void", "taken down"),
        *("folded", "withdrawn", "surrender", "surrendered"),
        *("natural", *(f"by {points}" for points in range(4, 10)), "won with six", "three of a rank"),
    }
)
_LINE_PAY: Final = re.compile(r"(\d+) (\S+)")


def wager_rows(game: Game | None, wager: Wager, unit_cents: int) -> Iterator[Label]:
    """What was bought: mode, level, draws, cards or areas. ``unit_cents``: what a credit cost."""
    shown: Mapping[str, Any] = {} if game is None else game.presentation()
    options = dict(wager.options)
    yield "wager.credits", number(wager.credits)
    mode = options.pop("mode", "")
    if mode and (named := _named(shown.get("bets", ()), "mode", mode)).kind == "local":
        yield "wager.mode", named  # a game with one way to bet has no name for it
    if "hands" in options:
        yield "wager.hands", number(int(options.pop("hands")))
    if "level" in options:
        yield "wager.level", number(int(options.pop("level")))
    if "draws" in options:
        yield "wager.draws", number(int(options.pop("draws")))
    for bonus in options.pop("bonuses", ()):
        yield "wager.bonus", _named(shown.get("bonuses", ()), "id", bonus)
    for area, credits_ in options.pop("bets", {}).items():
        yield _named(_places(shown), "id", area), money(int(credits_) * unit_cents)
    for place, card in enumerate(options.pop("selections", ()), 1):
        yield say("service.wager.card", number=place), plain(_numbers(card.get("groups", ())))
        for size, credits_ in card.get("stakes", {}).items():
            yield say("service.wager.stake", count=str(size)), money(int(credits_) * unit_cents)
    for name, value in options.items():  # of a family told apart from none of these
        yield coded("service.wager", name), plain(value)


def choice_words(asked: str, choice: object) -> Words:
    """What the player answered, as the question's picture says it: reels and boxes count from 1."""
    if asked == "hold" and isinstance(choice, int):
        held = [str(reel + 1) for reel in range(choice.bit_length()) if choice >> reel & 1]
        return say("service.recall.held", reels=", ".join(held)) if held else say("service.recall.held_none")
    if asked == "set" and isinstance(choice, int):
        low = [str(place + 1) for place in range(choice.bit_length()) if choice >> place & 1]
        return say("service.recall.low_hand", places=", ".join(low))
    if asked == "pick" and isinstance(choice, int):
        return say("service.recall.box", number=choice + 1)
    return coded("decide", str(choice))


def _numbers(groups: Sequence[Any]) -> str:
    """The numbers of a card's groups; a bare count of numbers was a quick pick."""
    told = (
        " ".join(map(str, group)) if isinstance(group, list) else f"({group})"  # (6): six by quick pick
        for group in groups
    )
    return "  ·  ".join(told)


def win_rows(game: Game | None, wins: Sequence[Settlement], unit_cents: int) -> tuple[Row, ...]:
    """A line a prize: what, where, and its worth."""
    shown: Mapping[str, Any] = {} if game is None else game.presentation()
    return tuple(
        Row(
            cells=(
                _prize(shown, win),
                _became(shown, win.name) if win.spot else _where(shown, win),
                money(win.credits * unit_cents),
            )
        )
        for win in wins
    )


def _prize(shown: Mapping[str, Any], win: Settlement) -> Words:
    """Its name: so many of a symbol, an area of the wheel, a catch, or as the definition calls it."""
    told = win.detail
    if win.spot:
        return _named(_places(shown), "id", win.spot)
    if "area" in told:
        return _named(shown.get("areas", ()), "id", told["area"])
    if "selection" in told:
        return say(
            "service.wager.catch", hits=len(told.get("hits", ())), numbers=len(told.get("numbers", ()))
        )
    found = _LINE_PAY.fullmatch(win.name)
    if found is None:
        return _became(shown, win.name)
    count, symbol = found.groups()
    names = {**shown.get("names", {}), **{k: v["name"] for k, v in shown.get("symbols", {}).items()}}
    called = names.get(symbol)
    if not isinstance(called, Mapping):
        return plain(win.name)
    return local({language: f"{count} {_TIMES} {words}" for language, words in called.items()})


def _where(shown: Mapping[str, Any], prize: Settlement) -> Words:
    win = prize.detail
    stage = shown.get("stages", {}).get(win.get("stage"), {})
    if stage.get("name"):
        return local(stage["name"])
    match win.get("on"):
        case "line":
            return say("service.wager.line", number=int(win["number"]))
        case "ways":
            return say("service.wager.ways", count=int(win.get("ways", 1)))
        case "scatter":
            return say("service.wager.scatter")
    if "selection" in win:
        return say("service.wager.draw", draw=int(win["draw"]), card=int(win["selection"]) + 1)
    return say("service.wager.hand", number=int(win["hand"])) if "hand" in win else plain("")


def _named(entries: Sequence[Mapping[str, Any]], key: str, value: Any) -> Words:
    """The name of the entry whose ``key`` is ``value``; the bare value where there is none."""
    for entry in entries:
        called = entry.get("names", entry.get("name"))
        if entry.get(key) == value and isinstance(called, Mapping):
            return local(called)
    return plain(value)


def _became(shown: Mapping[str, Any], name: str) -> Words:
    """What became of a bet at a table: won, lost and the like, or a pay of the game's own."""
    if name in _SETTLED:
        return coded("felt", f"as_{name.replace(' ', '_')}")
    return _named(shown.get("pays", ()), "name", name)


def _places(shown: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Where bets lie: the areas of a wheel, the spots of a table."""
    return [*shown.get("areas", ()), *shown.get("spots", ())]
