"""The page of very long odds: awards so rare that the place wants their odds told (C-23)."""

from egm.link.messages import LongOdds
from egm.screen.painter import Rect, Style
from egm.screen.scenes.glass import prize_name
from egm.screen.scenes.stage import Stage, stage_name

#: Awards a page holds.
PAGE = 9


def pages(stage: Stage) -> list[tuple[LongOdds, ...]]:
    """The awards to tell of, a page each; none where no odds are that long."""
    game = stage.view.game
    told = game.long_odds if game else ()
    return [told[at : at + PAGE] for at in range(0, len(told), PAGE)]


def draw_odds(stage: Stage, rect: Rect, told: tuple[LongOdds, ...]) -> None:
    """Each award, where it is won and at which bets, and its odds: 1 in so many games."""
    p, (x, y, w, h) = stage.painter, rect
    used = p.paragraph(stage.texts.say("odds.say"), (x, y, w, h), Style("text", "small", "text")) + 16
    y, step = y + used, min(76.0, (h - used) / max(1, len(told)))
    for row, award in enumerate(told):
        top = y + row * step
        p.shade((x, top, w, step - 4), (255, 255, 255, 12 if row % 2 else 22), 10)
        middle = top + (step - 4) / 2
        words = Style("text", "small", "text")
        p.text(award_words(stage, award), (x + 14, middle), words, align="left", width=w * 0.6)
        odds = stage.texts.say("odds.one_in", games=stage.texts.number(award.one_in))
        p.text(odds, (x + w - 14, middle), Style("strong", "body", "meter"), align="right", width=w * 0.36)


def award_words(stage: Stage, award: LongOdds) -> str:
    """What an award is called in the player's language, with its stage and its bets where they matter."""
    game, texts = stage.view.game, stage.texts
    if game is None:
        return award.name
    words = [_name(stage, award)]
    place = stage_name(stage, award.stage)
    if place:
        words.append(place)
    costs = {int(bet["cost"]) for bet in game.presentation.get("bets", ()) if "cost" in bet}
    if costs - set(award.bets):
        words += [texts.say("help.bet", bet=texts.number(cost)) for cost in award.bets]
    return " · ".join(words)


def _name(stage: Stage, award: LongOdds) -> str:
    game, texts = stage.view.game, stage.texts
    assert game is not None  # the caller has looked
    for kind in ("progressives", "merchandise"):
        for one in game.presentation.get(kind, ()):
            if one["id"] == award.name and not award.stage:
                return texts.local(one["name"], award.name)
    field = stage.view.fields.get(game.id, {}).get(award.stage)
    if field is not None:
        prize = next((each for each in field.prizes if each.name == award.name), None)
        if prize is not None:
            return prize_name(texts, field, prize.count, prize.symbol, prize.name)
    names = game.presentation.get("names", {})
    if award.name in names:
        return texts.local(names[award.name], award.name)
    catch, of, spots = award.name.partition(" of ")
    if of and catch.isdigit() and spots.isdigit():
        return f"{texts.say('keno.catch', count=int(catch))} / {texts.say('keno.of', count=int(spots))}"
    return award.name
