"""Text for a recorded wager and its prizes, with the names of modes and symbols from the game's definition."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from egm.kernel.service_pages import PageRow, PageText
from egm.staff.page_texts import (
    build_code_text,
    build_money_text,
    build_multilingual_text,
    build_number_text,
    build_plain_text,
    build_text,
)
from paytables import Game, Settlement, Wager

#: A label of a row, and its value.
LabelAndValue = tuple[str | PageText, PageText]
#: The multiplication sign.
_MULTIPLICATION_SIGN: Final = "\u00d7"
#: Names of settlements that any table may have. Their texts are ``felt.as_<name>`` in the screen's catalogue; every
#: other name is a pay of the game's definition.
SETTLED_RESULT_NAMES: Final = frozenset(
    {
        *(
            "won",
            "lost",
            "push",
            "half",
            "half won",
            "freed",
            "insured",
            "void",
            "taken down",
            "not covered",
            "not played",
        ),
        *("folded", "withdrawn", "surrender", "surrendered", "one pair", "two pairs"),
        *("natural", *(f"by {points}" for points in range(4, 10)), "won with six", "three of a rank"),
    }
)
#: The name of a line pay: the count and the symbol.
_LINE_PAY_PATTERN: Final = re.compile(r"(\d+) (\S+)")


def iter_wager_rows(
    game: Game | None, wager: Wager, unit_cents: int, position_by_seat: Mapping[int, int] | None = None
) -> Iterator[LabelAndValue]:
    """Yield the rows that describe a recorded wager: mode, bet level, draws, cards or areas, other seats' bets.

    ``unit_cents`` is the value of a credit in minor units; ``position_by_seat`` has the number of the player
    position at each seat of a shared round.
    """
    presentation: Mapping[str, Any] = {} if game is None else game.build_presentation()
    options = dict(wager.options)
    yield "wager.credits", build_number_text(wager.credits)
    mode = options.pop("mode", "")
    if mode and (mode_name := _find_item_name(presentation.get("bets", ()), "mode", mode)).kind == "local":
        yield "wager.mode", mode_name  # a game with only one way to bet has no name for it
    if "hands" in options:
        yield "wager.hands", build_number_text(int(options.pop("hands")))
    if "level" in options:
        yield "wager.level", build_number_text(int(options.pop("level")))
    if "draws" in options:
        yield "wager.draws", build_number_text(int(options.pop("draws")))
    for bonus in options.pop("bonuses", ()):
        yield "wager.bonus", _find_item_name(presentation.get("bonuses", ()), "id", bonus)
    for area, credits_ in options.pop("bets", {}).items():
        yield (
            _find_item_name(_list_betting_areas(presentation), "id", area),
            build_money_text(int(credits_) * unit_cents),
        )
    options.pop("seat", None)  # the recall states the position
    yield from _iter_other_seats_rows(options.pop("others", {}), unit_cents, position_by_seat or {})
    for card_number, card in enumerate(options.pop("selections", ()), 1):
        yield (
            build_text("service.wager.card", number=card_number),
            build_plain_text(_format_keno_numbers(card.get("groups", ()))),
        )
        for size, credits_ in card.get("stakes", {}).items():
            yield (
                build_text("service.wager.stake", count=str(size)),
                build_money_text(int(credits_) * unit_cents),
            )
    for name, value in options.items():  # options of game families not handled above
        yield build_code_text("service.wager", name), build_plain_text(value)


def _iter_other_seats_rows(
    bets_by_seat: Mapping[str, Mapping[str, int]], unit_cents: int, position_by_seat: Mapping[int, int]
) -> Iterator[LabelAndValue]:
    """Yield a row with the total bet of each other seat of a shared round.

    ``unit_cents`` is the value of a credit in minor units.
    """
    for seat, bets in bets_by_seat.items():
        number = position_by_seat.get(int(seat), int(seat) + 1)
        yield (
            build_text("service.wager.others", number=number),
            build_money_text(sum(bets.values()) * unit_cents),
        )


def describe_choice(decision_kind: str, choice: object) -> PageText:
    """Return a player's recorded answer as text. Reels and boxes count from 1, as in the picture of the decision."""
    if decision_kind == "hold" and isinstance(choice, int):
        reels = [str(reel + 1) for reel in range(choice.bit_length()) if choice >> reel & 1]
        return (
            build_text("service.recall.held", reels=", ".join(reels))
            if reels
            else build_text("service.recall.held_none")
        )
    if decision_kind == "set" and isinstance(choice, int):
        low_hand_cards = [str(card + 1) for card in range(choice.bit_length()) if choice >> card & 1]
        return build_text("service.recall.low_hand", places=", ".join(low_hand_cards))
    if decision_kind == "pick" and isinstance(choice, int):
        return build_text("service.recall.box", number=choice + 1)
    return build_code_text("decide", str(choice))


def _format_keno_numbers(groups: Sequence[Any]) -> str:
    """Return the numbers of a Keno card as text, by groups.

    A group that is to be chosen at random (a quick pick) is shown as the count of its numbers, such as "(6)".
    """
    texts = (
        " ".join(map(str, group))
        if isinstance(group, list)
        else f"({group})"  # "(6)" is a quick pick of six numbers
        for group in groups
    )
    return "  ·  ".join(texts)


def build_win_rows(
    game: Game | None, settlements: Sequence[Settlement], unit_cents: int
) -> tuple[PageRow, ...]:
    """Return one row for each prize or settled bet of a play: its name, where it was won or its result, the amount."""
    presentation: Mapping[str, Any] = {} if game is None else game.build_presentation()
    return tuple(
        PageRow(
            cells=(
                _describe_prize(presentation, settlement),
                _describe_settlement(presentation, settlement.name)
                if settlement.spot
                else _describe_prize_location(presentation, settlement),
                build_money_text(settlement.credits * unit_cents),
            )
        )
        for settlement in settlements
    )


def _describe_prize(presentation: Mapping[str, Any], settlement: Settlement) -> PageText:
    """Return a prize's name as the game's definition names it.

    It is the betting area of a table, the area of a wheel, the Keno catch, the count of a symbol, or the prize's own
    name.
    """
    detail = settlement.detail
    if settlement.spot:
        return _find_item_name(_list_betting_areas(presentation), "id", settlement.spot)
    if "area" in detail:
        return _find_item_name(presentation.get("areas", ()), "id", detail["area"])
    if "selection" in detail:
        return build_text(
            "service.wager.catch", hits=len(detail.get("hits", ())), numbers=len(detail.get("numbers", ()))
        )
    line_pay = _LINE_PAY_PATTERN.fullmatch(settlement.name)
    if line_pay is None:
        return _describe_settlement(presentation, settlement.name)
    count, symbol = line_pay.groups()
    name_by_symbol = {
        **presentation.get("names", {}),
        **{symbol_id: view["name"] for symbol_id, view in presentation.get("symbols", {}).items()},
    }
    name_by_language = name_by_symbol.get(symbol)
    if not isinstance(name_by_language, Mapping):
        return build_plain_text(settlement.name)
    return build_multilingual_text(
        {language: f"{count} {_MULTIPLICATION_SIGN} {text}" for language, text in name_by_language.items()}
    )


def _describe_prize_location(presentation: Mapping[str, Any], settlement: Settlement) -> PageText:
    """Return where a prize was won: in a stage, on a line, in a Keno draw, with a hand; blank if none applies."""
    detail = settlement.detail
    stage = presentation.get("stages", {}).get(detail.get("stage"), {})
    if stage.get("name"):
        return build_multilingual_text(stage["name"])
    match detail.get("on"):
        case "line":
            return build_text("service.wager.line", number=int(detail["number"]))
        case "ways":
            return build_text("service.wager.ways", count=int(detail.get("ways", 1)))
        case "scatter":
            return build_text("service.wager.scatter")
    if "selection" in detail:
        return build_text("service.wager.draw", draw=int(detail["draw"]), card=int(detail["selection"]) + 1)
    return (
        build_text("service.wager.hand", number=int(detail["hand"]))
        if "hand" in detail
        else build_plain_text("")
    )


def _find_item_name(items: Sequence[Mapping[str, Any]], key: str, wanted_value: Any) -> PageText:
    """Return the name of the item in ``items`` whose value at ``key`` is ``wanted_value``.

    ``items`` is a list from the game's published presentation. If no item matches, return ``wanted_value`` itself.
    """
    for item in items:
        item_name = item.get("names", item.get("name"))
        if item.get(key) == wanted_value and isinstance(item_name, Mapping):
            return build_multilingual_text(item_name)
    return build_plain_text(wanted_value)


def _describe_settlement(presentation: Mapping[str, Any], settlement_name: str) -> PageText:
    """Return the result of a table bet as text: won, lost or push, or the name of the pay that it won."""
    if settlement_name in SETTLED_RESULT_NAMES:
        return build_code_text("felt", f"as_{settlement_name.replace(' ', '_')}")
    return _find_item_name(presentation.get("pays", ()), "name", settlement_name)


def _list_betting_areas(presentation: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the betting areas of a game's presentation: the areas of a wheel game and the spots of a table."""
    return [*presentation.get("areas", ()), *presentation.get("spots", ())]
