"""Bets on a table, without a picture: the spots a game offers, chips laid on them, and the wish for the bet.

The machine keeps the bet; the chips here are what the player is doing with a finger, told to it as soon as
they make a bet. What stands from earlier rounds is the machine's alone and never among them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal

from egm.kernel.messages import Felt, GameView, Intent, Snapshot
from egm.screen.outcome import OutcomeError

#: Chips are of these values, in credits; a table has the five that suit it.
_VALUES: Final = tuple(base * 10**power for power in range(7) for base in (1, 5))
_CHIPS: Final = 5
#: So many steps back can be taken.
_UNDO: Final = 40
#: How many pockets on each side of one are its neighbours, as they are chosen one after another.
NEIGHBOURS: Final = (2, 3, 4, 1)

#: Actions that change the chips, and those that only change what the hand or the eye has.
ON_CHIPS: Final = frozenset({"spot", "pocket", "call", "undo", "clear", "repeat", "double"})
ON_FELT: Final = ON_CHIPS | {"chip", "tool", "cloth", "sheet", "neighbours", "suits", "board"}

Bets = Mapping[str, int]
Tool = Literal["chip", "take", "ask", "plays"]
"""What a touch of a spot does: lay a chip, take the bet off it, tell its odds and limits, say if it plays."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place for a bet, as the game publishes it (:class:`paytables.contract.Spot`)."""

    id: str
    group: str
    names: Mapping[str, str]
    odds: str
    least: int
    most: int
    step: int
    needs: str | None
    covers: tuple[str, ...]
    share: int | None = None
    times: int | None = None
    """It is laid with the spot it needs, so many times as high: a chip on either is one on both."""
    most_times: int | None = None
    """A bet there is at most so many times the one it needs."""
    reserve: Fraction = Fraction(0)
    """What the round may still stake for each credit here: credit and limits must cover it as well."""
    added: tuple[str, ...] = ()
    """Staked in a round alone: what it may be, in times the bet it needs."""
    terms: Mapping[str, str] = field(default_factory=dict)
    """What it pays in words, by language, where its odds do not say all."""
    round: tuple[str, ...] = ()
    """The spots that need each other in a round of which it is one: a chip on it lays the least on all."""


@dataclass(frozen=True, slots=True)
class Call:
    """A wager with a name, laid by one touch: how many chips on each spot."""

    names: Mapping[str, str]
    chips: Bets


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a table game published: its picture, its spots in the cloth's order, and the bets it offers.

    Read once; what is worked out from it is kept by its identity.
    """

    felt: str
    spots: Mapping[str, Spot]
    forms: tuple[Bets, ...]
    most: int | None
    wheel: tuple[str, ...]
    colours: Mapping[str, str]
    names: Mapping[str, Mapping[str, str]]
    off: frozenset[str] = frozenset()
    """Spots whose bets do not play on a come-out, unless the player says so."""
    says: frozenset[str] = frozenset()
    """Spots of which the player says whether a bet there plays."""
    calls: Mapping[str, Call] = field(default_factory=dict)
    roads: tuple[str, ...] = ()
    """The two results that a scoreboard has columns of; none where the table keeps no such board."""
    suits: bool = False
    """Whether what is dealt has suits: cards have, tiles have not."""

    @property
    def chips(self) -> tuple[int, ...]:
        """The values of chips, ascending: from the least bet on, and no larger than the largest."""
        spots = self.spots.values()
        least = min((spot.step for spot in spots), default=1)
        most = max((spot.most for spot in spots), default=1)
        fit = [value for value in _VALUES if least < value <= most and value % least == 0]
        return (least, *fit[: _CHIPS - 1])

    @property
    def least(self) -> int:
        """The least that begins a round, credits: a bet that needs no other, and all that is laid with it."""
        return _least(self)

    @property
    def groups(self) -> Mapping[str, tuple[Spot, ...]]:
        """The spots of each group, in the cloth's order."""
        return _groups(self)

    @property
    def lasts(self) -> bool:
        """Whether bets may stay on the table: what is placed is then placed for one round and no more."""
        return self.felt == "craps"


@lru_cache(maxsize=64)
def _groups(table: Table) -> Mapping[str, tuple[Spot, ...]]:
    found: dict[str, list[Spot]] = {}
    for spot in table.spots.values():
        found.setdefault(spot.group, []).append(spot)
    return {group: tuple(spots) for group, spots in found.items()}


@lru_cache(maxsize=64)
def _least(table: Table) -> int:
    return min(
        sum(table.spots[each].least for each in (spot.id, *spot.round))
        + sum(
            max(each.least, each.times * spot.least)
            for each in table.spots.values()
            if each.needs == spot.id and each.times is not None
        )
        for spot in table.spots.values()
        if spot.needs is None or spot.round
    )


def is_table(game: GameView | None) -> bool:
    """Whether the game has a felt (:file:`paytables/FELTS.md`)."""
    return game is not None and game.presentation.get("kind") == "table"


def read_table(game: GameView) -> Table:
    """What a table game published. Raises :class:`OutcomeError`."""
    data = game.presentation
    try:
        spots = [
            Spot(
                id=str(told["id"]),
                group=str(told["group"]),
                names={str(code): str(words) for code, words in told["names"].items()},
                odds=str(told["odds"]),
                least=int(told["least"]),
                most=int(told["most"]),
                step=int(told.get("step", 1)),
                needs=None if told.get("needs") is None else str(told["needs"]),
                covers=tuple(map(str, told.get("covers", ()))),
                share=None if told.get("share") is None else int(told["share"]),
                most_times=None if told.get("most_times") is None else int(told["most_times"]),
                reserve=Fraction(told.get("reserve", 0)),
                added=tuple(map(str, told.get("added", ()))),
                terms={str(code): str(words) for code, words in told.get("terms", {}).items()},
                times=None if told.get("times") is None else int(told["times"]),
            )
            for told in data.get("spots", ())
        ]
        limit = data.get("table", {}).get("most")
        return Table(
            felt=str(data["felt"]),
            spots=_with_rounds({spot.id: spot for spot in spots}),
            forms=tuple(_bets(form.get("bets", {})) for form in data.get("forms", ())),
            most=None if limit is None else int(limit),
            wheel=tuple(map(str, data.get("wheel", ()))),
            colours={str(name): str(colour) for name, colour in data.get("colours", {}).items()},
            names=data.get("names", {}),
            off=frozenset(map(str, data.get("off", ()))),
            says=frozenset(map(str, data.get("says", ()))),
            calls={str(one["id"]): Call(one["names"], _bets(one["bets"])) for one in data.get("calls", ())},
            roads=tuple(map(str, data.get("roads", ()))),
            suits=data["felt"] == "cards"
            and not any("-" in hand.get("back", "") for hand in data.get("hands", ())),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise OutcomeError(f"game {game.id}: presentation: {error!r}") from error


def _with_rounds(spots: Mapping[str, Spot]) -> dict[str, Spot]:
    """The spots, each with those that it needs and that, in turn, need it."""

    def needed(spot: Spot) -> tuple[str, ...]:
        found = [spot.id]
        while (needs := spots[found[-1]].needs) is not None and needs not in found:
            found.append(needs)
        return tuple(found[1:]) if needs == spot.id else ()

    return {name: replace(spot, round=needed(spot)) for name, spot in spots.items()}


def _bets(data: Mapping[str, Any]) -> dict[str, int]:
    return {str(spot): int(credits_) for spot, credits_ in data.items()}


# ---------------------------------------------------------------------- chips
@dataclass(frozen=True, slots=True)
class Chips:
    """The player's chips: bets of the coming round, how to go back, and what his hand holds.

    ``bets`` are credits by spot, negative where a standing bet is to be taken down. ``last`` is what the
    round before staked; ``part`` and ``sheet`` say which part of the cloth is open; ``asked`` is the spot
    under the finger; ``refused`` why the last touch changed nothing (a word of the catalogue's).
    """

    bets: Bets = field(default_factory=dict)
    plays: Mapping[str, bool] = field(default_factory=dict)
    """What the player has newly said of bets: whether they play."""
    before: tuple[Bets, ...] = ()
    value: int = 0
    tool: Tool = "chip"
    last: Bets = field(default_factory=dict)
    part: str = ""
    sheet: int = 0
    neighbours: int = NEIGHBOURS[0]
    asked: str = ""
    refused: str = ""
    due: bool = False
    """The machine is to be told that the chips of the round before are off the cloth."""
    clearing: bool = False
    """It was told so, and has not answered: until it has, those chips are no bet of the coming round."""
    wished: Bets | None = None
    """The bet that the machine was asked for, until it has answered; None: it has told the one in force."""
    wished_at: float = -10.0

    @property
    def credits(self) -> int:
        """What they cost: all that is newly staked."""
        return sum(each for each in self.bets.values() if each > 0)

    def changed(self, bets: Bets, asked: str = "") -> "Chips":
        """These bets instead; what lay before can be had back."""
        kept = {spot: each for spot, each in bets.items() if each}
        before = (*self.before, self.bets)[-_UNDO:]
        return replace(self, bets=kept, before=before, asked=asked or self.asked, refused="", due=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """What holds beside a spot's own limits: the credit, what stands, where no bet is taken now."""

    credits: int
    standing: Bets
    shut: frozenset[str]
    felt: Felt
    least_here: int = 0
    most_here: int | None = None
    """What the place lets be at stake, standing bets included, in credits; None: as much as the table."""

    def spot(self, spot: Spot) -> Spot:
        """A spot as the table stands."""
        now = self.felt.spots.get(spot.id)
        return spot if now is None else replace(spot, **now.model_dump())

    def on(self, bets: Bets, spot: str | None) -> int:
        """What lies and stands on a spot, credits."""
        return 0 if spot is None else bets.get(spot, 0) + self.standing.get(spot, 0)

    def most(self, spot: Spot, bets: Bets) -> int:
        """The most on a spot with these bets: its own limit, or so many times what it is laid on."""
        times = spot.most_times
        most = spot.most if times is None else min(spot.most, times * self.on(bets, spot.needs))
        return most if self.most_here is None else min(most, self.most_here)

    def room(self, bets: Bets) -> int | None:
        """The most that may be newly staked here beside what stands and is not taken down with these bets."""
        if self.most_here is None:
            return None
        taken_down = -sum(each for each in bets.values() if each < 0)
        return self.most_here - sum(self.standing.values()) + taken_down


def limits(snapshot: Snapshot) -> Limits:
    """What holds as the table stands."""
    unit_cents, most_cents = max(1, snapshot.denomination_cents), snapshot.bet_most_cents
    return Limits(
        snapshot.credit_cents // unit_cents,
        snapshot.standing,
        frozenset(snapshot.shut),
        snapshot.felt,
        -(-snapshot.bet_least_cents // unit_cents),
        None if most_cents is None else most_cents // unit_cents,
    )


def closed(spot: Spot, bets: Bets, held: Limits) -> tuple[str, tuple[str, ...]]:
    """Why a spot takes no bet with these on the cloth (a word of the catalogue's), and what it waits for."""
    if spot.needs is not None and not spot.round and spot.times is None and _needed(spot, bets, held) <= 0:
        return "needs", (spot.needs,)
    if spot.id in held.shut:
        return "shut", ()
    first = held.felt.first
    if first and spot.id not in first and not any(bets.get(each, 0) > 0 for each in first):
        return "first", first
    needed = _needed(spot, bets, held)
    short = spot.share is not None and (needed % spot.share or needed // spot.share < spot.least)
    return ("share", ()) if short else ("", ())


def laid(
    table: Table, chips: Chips, spots: tuple[str, ...], held: Limits, times: Bets | None = None
) -> Chips:
    """The chips after a touch of these spots with the tool in hand: all of them, or none.

    ``times``: how many chips on each, where not one.
    """
    if chips.tool == "ask":
        return replace(chips, asked=spots[0], refused="")
    if chips.tool == "take":
        return _taken(table, chips, spots[0], held)
    if chips.tool == "plays":
        return _said(table, chips, spots[0], held)
    bets, why = dict(chips.bets), ""
    for name in dict.fromkeys(_lead(table, spot) for spot in spots):
        spot = table.spots[name]
        bets |= {each: held.spot(table.spots[each]).least for each in spot.round if not bets.get(each)}
        after, why = _more(table, spot, bets, value_of(table, chips, held) * (times or {}).get(name, 1), held)
        if why:
            return replace(chips, asked=name, refused=why)
        bets[name] = after
    bets = _with_followers(table, bets, held)
    why = _too_much(table, bets, held)
    return replace(chips, asked=spots[0], refused=why) if why else chips.changed(bets, spots[0])


def _lead(table: Table, spot: str) -> str:
    """The spot a chip goes to: the one with which this is laid, where it is laid with another."""
    needs = table.spots[spot].needs
    return spot if needs is None or table.spots[spot].times is None else _lead(table, needs)


def _too_much(table: Table, bets: Bets, held: Limits) -> str:
    """What these bets are more than (a word of the catalogue's): credit, table, place, credit for raises."""
    total, room = sum(each for each in bets.values() if each > 0), held.room(bets)
    more = sum((table.spots[name].reserve * each for name, each in bets.items() if each > 0), Fraction(0))
    if total > held.credits:
        return "credit"
    if table.most is not None and total + sum(held.standing.values()) > table.most:
        return "table"
    if room is not None and total + more > room:
        return "here"
    return "raise" if total + more > held.credits else ""


def chips_here(table: Table, held: Limits) -> tuple[int, ...]:
    """The values of chips, ascending: none but the least is more than may be staked here."""
    least, *more = table.chips
    return (least, *(value for value in more if held.most_here is None or value <= held.most_here))


def value_of(table: Table, chips: Chips, held: Limits) -> int:
    """The value of the chip in hand."""
    values = chips_here(table, held)
    return chips.value if chips.value in values else values[0]


def _more(table: Table, spot: Spot, bets: Bets, value: int, held: Limits) -> tuple[int, str]:
    """What is bet on a spot after one chip more, and why there is none."""
    stood, now = held.standing.get(spot.id, 0), max(0, bets.get(spot.id, 0))
    why, _ = closed(spot, bets, held)
    if why:
        return now, why
    spot = held.spot(spot)
    if spot.share is not None:
        value = _needed(spot, bets, held) // spot.share - stood - now
    wanted = max(stood + now + value, spot.least) - stood
    wanted = -(-wanted // spot.step) * spot.step
    wanted = min(wanted, (held.most(spot, bets) - stood) // spot.step * spot.step)
    if wanted <= now or stood + wanted < spot.least:
        return now, "most"
    why = _too_much(table, {**bets, spot.id: wanted}, held)
    return (now, why) if why else (wanted, "")


def _needed(spot: Spot, bets: Bets, held: Limits) -> int:
    """What lies on the spot it needs, for a share what is newly laid there; one where it needs none."""
    if spot.needs is None:
        return 1
    return bets.get(spot.needs, 0) + (held.standing.get(spot.needs, 0) if spot.share is None else 0)


def _with_followers(table: Table, bets: Bets, held: Limits) -> dict[str, int]:
    """The bets without those whose needed bet is gone; what goes with one is as high as that wants."""
    kept = dict(bets)
    for spot in table.spots.values():
        needed, now = _needed(spot, kept, held), kept.get(spot.id, 0)
        if now > 0 and spot.share is not None:
            kept[spot.id] = 0 if needed % spot.share else min(needed // spot.share, spot.most)
        if spot.times is not None and spot.needs is not None:
            kept[spot.id] = spot.times * kept.get(spot.needs, 0)
        elif now > 0 and needed <= 0:
            kept[spot.id] = 0
    return kept if kept == bets else _with_followers(table, kept, held)


def _taken(table: Table, chips: Chips, spot: str, held: Limits) -> Chips:
    """The new bet off a spot; where there is none, the standing one is to be taken down (or left, again)."""
    spot = _lead(table, spot)
    now, stood = chips.bets.get(spot, 0), held.standing.get(spot, 0)
    if not now and not stood:
        return replace(chips, asked=spot, refused="nothing")
    bets = {**chips.bets, spot: -stood if now == 0 else 0}
    bets = _with_followers(table, bets, held)
    for name, each in bets.items():  # what wants it first, or may be so high on it alone
        other = held.spot(table.spots[name])
        if each > 0 and (closed(other, bets, held)[0] or held.on(bets, name) > held.most(other, bets)):
            return replace(chips, asked=spot, refused="needed")
    return chips.changed(bets, spot)


def plays(table: Table, chips: Chips, spot: str, held: Limits) -> bool | None:
    """Whether a bet on a spot plays in the coming round, where the player says it; else None."""
    if spot not in table.says:
        return None
    told = held.felt.plays.get(spot, spot not in table.off)
    return chips.plays.get(spot, told)


def _said(table: Table, chips: Chips, spot: str, held: Limits) -> Chips:
    """That a bet plays, or no more: of one that lies or stands there."""
    now = plays(table, chips, spot, held)
    if now is None or held.on(chips.bets, spot) <= 0:
        return replace(chips, asked=spot, refused="always" if now is None else "nothing")
    return replace(chips, asked=spot, refused="", plays={**chips.plays, spot: not now})


def undone(chips: Chips) -> Chips:
    """One step back."""
    if not chips.before:
        return replace(chips, refused="nothing")
    return replace(chips, bets=chips.before[-1], before=chips.before[:-1], refused="", due=False)


def cleared(chips: Chips) -> Chips:
    """Every new bet off the cloth."""
    return chips.changed({}) if chips.bets else replace(chips, refused="nothing")


def repeated(table: Table, chips: Chips, held: Limits) -> Chips:
    """The bets of the round before, as far as the table takes them now."""
    return _laid_anew(table, chips, chips.last, held)


def doubled(table: Table, chips: Chips, held: Limits) -> Chips:
    """Every new bet twice as high, as far as its limit and the credit go."""
    return _laid_anew(table, chips, {spot: 2 * each for spot, each in chips.bets.items() if each > 0}, held)


def _laid_anew(table: Table, chips: Chips, wanted: Bets, held: Limits) -> Chips:
    """Bets of these amounts, each no more than may be; refused whole where the credit does not cover them."""
    bets: dict[str, int] = {spot: each for spot, each in chips.bets.items() if each < 0}
    why = "" if wanted else "nothing"
    for name in table.spots:
        if wanted.get(name, 0) > 0:
            bets[name], said = _more(table, table.spots[name], bets, wanted[name], held)
            why = said or why
    kept = {spot: each for spot, each in _with_followers(table, bets, held).items() if each}
    over = _too_much(table, kept, held)
    if over or why in {"credit", "raise"} or kept == chips.bets:
        return replace(chips, refused=over or why or "most")
    return replace(chips.changed(kept), refused=why)


# ---------------------------------------------------------------------- the bet in force
def bets_in_force(table: Table, snapshot: Snapshot) -> Bets:
    """The new bets the machine holds: as they were laid, or of the first form that costs as much."""
    told = snapshot.bet_wager.get("bets")
    if isinstance(told, Mapping):
        return _bets(told)
    return next((form for form in table.forms if sum(form.values()) == snapshot.bet_credits), {})


def under_least(chips: Chips, snapshot: Snapshot) -> bool:
    """Whether the chips are less than the place takes: no bet yet, and none is in force meanwhile."""
    return 0 < chips.credits < limits(snapshot).least_here


def wished(chips: Chips, snapshot: Snapshot, now: float) -> tuple[Chips, tuple[Intent, ...]]:
    """The wish for these bets, and the chips that wait for its answer; with none, that nothing is staked."""
    held = limits(snapshot)
    said = {spot: now for spot, now in chips.plays.items() if held.on(chips.bets, spot) > 0}
    chips = replace(chips, clearing=chips.due)
    if under_least(chips, snapshot):
        asked = Intent(name="bet", value=0, options={"bets": {}})
        return replace(chips, due=False, wished={}, wished_at=now), (asked,)
    working: dict[str, object] = {"working": said} if said else {}
    asked = Intent(name="bet", value=chips.credits, options={"bets": dict(chips.bets), **working})
    return replace(chips, due=False, wished=chips.bets, wished_at=now), (asked,)


def answered(table: Table, chips: Chips, snapshot: Snapshot, *, waits: bool) -> Chips:
    """The chips of the bet in force, whatever lay there, or those that wait for the machine's answer.

    ``waits``: a wish may still be on its way, so that an older bet told is no answer to it.
    """
    told = bets_in_force(table, snapshot)
    refused = any(notice.code.startswith("refused.bet") for notice in snapshot.notices)
    if chips.due or (waits and chips.wished is not None and told != chips.wished and not refused):
        return chips
    if chips.clearing and told and not chips.bets:  # refused, or lost on the way: it is told again
        return replace(chips, wished=None, due=True)
    chips = replace(chips, wished=None, clearing=False)
    if told == chips.bets or (not told and under_least(chips, snapshot)):
        return chips
    return replace(chips, bets=told, plays=snapshot.bet_wager.get("working", {}), before=())
