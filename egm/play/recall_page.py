"""Game recall pages: the last plays, each with everything of it, and its picture step by step.

A play is shown from its recorded draws and choices by the definition it was played by, as a restart would
(E-01 to E-03). Where that is not to be had the recorded outcome is shown as it stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from egm.errors import LocalError
from egm.kernel.machine import Machine
from egm.kernel.service_pages import Action, Replay, Row, ServicePage, Table, Words
from egm.people import Permission
from egm.play.conversation import Conversation
from egm.play.definitions import definition_of
from egm.play.recall_words import choice_words, wager_rows, win_rows
from egm.record_codec import from_json
from egm.records.game_record import GameChoice, GameName, GameRecord
from egm.staff.service.desk import Entry, Go, Move, Place, ServiceDesk, Stay, refuse
from egm.staff.service.words import (
    BACK,
    coded,
    columns,
    local,
    moment,
    money,
    number,
    pairs,
    plain,
    prize_names,
    say,
)
from meters import recall
from meters.recall import Play
from meters.transaction import JSON
from paytables import Choice, Game, PaytableError, ReplayDraw

#: Plays listed: the newest, however many more the journal holds.
_LISTED: Final = 50


class PlayList(Place):
    """The last plays, newest first; the one still open leads."""

    def page(self, machine: Machine) -> ServicePage:
        """A line a play."""
        rows = tuple(_line(machine, play) for play in recall.plays(machine.journal, _LISTED))
        place = ("position",) if machine.position.of > 1 else ()
        table = Table(columns=columns("time", *place, "game", "bet", "win", "state"), rows=rows)
        return ServicePage(id="", title=say("service.menu.recall"), tables=(table,), actions=(BACK,))

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Into a play."""
        play = _find(machine, action)
        if play is None:
            return refuse("not_offered")
        person = machine.state(ServiceDesk).person
        machine.log("recall.shown", {"play_id": play.play_id, "person": "" if person is None else person.id})
        return Go(PlayDetail(play, _steps(machine, play), _positions(machine, play)))


@dataclass(frozen=True, slots=True)
class Shown:
    """One step of a recalled play: a question with its options, or the outcome."""

    display: dict[str, JSON]
    asked: str = ""
    options: tuple[int | str, ...] = ()
    answer: int | str | None = None
    seat: int = 0
    """Whose question it is, at a table of several."""


@dataclass(slots=True)
class PlayDetail(Place):
    """One play: its figures, then its picture."""

    play: Play
    steps: tuple[Shown, ...]
    positions: Mapping[int, int] = field(default_factory=dict)
    """Of a round of several: which position sat at each seat."""
    at: int = -1
    """The step shown; -1: the figures."""

    def page(self, machine: Machine) -> ServicePage:
        """The figures, or the picture of one step."""
        title = say("service.recall.title", play=self.play.play_id)
        if self.at < 0:
            show = Action(
                id="show", label=say("service.recall.show"), style="confirm", enabled=bool(self.steps)
            )
            tables = _figures(machine, self.play, self.steps, self.positions)
            return ServicePage(id="", title=title, tables=tables, actions=(BACK, show))
        forward, here = self.at + 1 < len(self.steps), self.positions.get(self.steps[self.at].seat)
        of = () if here is None else (("recall.of", say("handpay.position", number=here)),)
        return ServicePage(
            id="",
            title=title,
            replay=self._replay(),
            tables=(pairs(of),) if of and self.steps[self.at].asked else (),
            actions=(
                BACK,
                Action(id="earlier", label=say("service.recall.earlier"), style="back", enabled=self.at > 0),
                Action(id="later", label=say("service.recall.later"), enabled=forward),
                Action(id="figures", label=say("service.recall.figures")),
            ),
        )

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Step by step, or back to the figures."""
        targets = {"show": 0, "figures": -1, "earlier": self.at - 1, "later": self.at + 1}
        if action not in targets or targets[action] >= len(self.steps) or targets[action] < -1:
            return refuse("not_offered")
        self.at = targets[action]
        return Stay()

    def _replay(self) -> Replay:
        shown, game = self.steps[self.at], _game(self.play)
        win_credits = None if self.play.end is None or game.outcome is None else game.outcome.win_credits
        return Replay(
            play_id=self.play.play_id,
            game_id=game.game.id,
            game_version=game.game.version,
            time_utc=self.play.start.time_utc.isoformat(),
            denomination_cents=game.denomination_cents,
            bet_credits=game.bet_credits,
            bet_wager=dict(game.wager.options),
            credit_before_cents=game.credit_before_cents,
            win_credits=win_credits,
            win_cents=self.play.win_cents,
            step=self.at + 1,
            steps=len(self.steps),
            asked=shown.asked,
            options=shown.options,
            answer=shown.answer,
            answered=None if shown.answer is None else choice_words(shown.asked, shown.answer),
            display=shown.display,
        )


def _find(machine: Machine, play_id: str) -> Play | None:
    return next((play for play in recall.plays(machine.journal, _LISTED) if play.play_id == play_id), None)


def _positions(machine: Machine, play: Play) -> dict[int, int]:
    """Which position sat at each seat of a round that several have played; nothing of any other."""
    round_id = _start(play).round_id
    beside = recall.plays(machine.journal, _LISTED) if round_id else ()
    games = ((_start(each), each.position) for each in beside)
    return {game.wager.seat or 0: position for game, position in games if game.round_id == round_id}


def _start(play: Play) -> GameRecord:
    """A play as it began."""
    return from_json(GameRecord, play.start.record, f"entry {play.start.sequence}, {play.start.kind}")


def _game(play: Play) -> GameRecord:
    """A play with every step after its beginning."""
    game = _start(play)
    for step in play.steps:
        game = game.after(from_json(GameChoice, step.record, f"entry {step.sequence}, {step.kind}"))
    return game


def _line(machine: Machine, play: Play) -> Row:
    return Row(
        cells=(
            moment(play.start.time_utc.isoformat()),
            *((number(play.position),) if machine.position.of > 1 else ()),
            _title(machine, _start(play).game),
            money(play.bet_cents),
            plain("") if play.win_cents is None else money(play.win_cents),
            say(f"service.recall.{_state(play)}"),
        ),
        action=play.play_id,
        mark="" if play.end is not None else "warning",
    )


def _state(play: Play) -> str:
    if play.end is None:
        return "open"
    return "void" if play.end.kind == "game.void" else "ended"


def _title(machine: Machine, named: GameName) -> Words:
    game = _definition(machine, named)
    return plain(named.id) if game is None else local(game.title)


def _definition(machine: Machine, named: GameName) -> Game | None:
    """The definition a play was made by; None where it is not to be had any more."""
    try:
        return definition_of(machine, named)
    except LocalError:
        return None


def _figures(
    machine: Machine, play: Play, shown: tuple[Shown, ...], positions: Mapping[int, int]
) -> tuple[Table, ...]:
    """Everything of a play in figures (E-01, E-04)."""
    game = _game(play)
    rules, unit_cents = _definition(machine, game.game), game.denomination_cents
    paid = play.win_cents or 0
    rows: list[tuple[str | Words, Words]] = [
        ("column.time", moment(play.start.time_utc.isoformat())),
        *((("column.position", number(play.position)),) if machine.position.of > 1 else ()),
        ("column.game", _title(machine, game.game)),
        ("recall.version", plain(f"{game.game.version}  {game.game.digest[:16]}")),
        ("recall.credit_before", money(game.credit_before_cents)),
        ("column.bet", money(play.bet_cents)),
        ("column.win", plain("") if play.win_cents is None else money(paid)),
        ("column.state", say(f"service.recall.{_state(play)}")),
    ]
    rows += [
        (coded("source", source.partition(":")[2].partition(":")[0] or source), money(cents))
        for source, cents in play.added_cents.items()
    ]
    asked = dict(enumerate(shown, 1))
    choices = [
        (_choice(n, asked.get(n), positions), choice_words(_asked(asked.get(n)), game.steps[n].choice))
        for n in _numbered(play)
    ]
    rows += [(say("service.recall.level", level=level), money(cents)) for level, cents in play.levels_won]
    if play.prizes_won:
        rows.append(("recall.prizes", prize_names(play.prizes_won)))
    lines = win_rows(rules, () if game.outcome is None else game.outcome.settlements, unit_cents)
    return (
        pairs(rows),
        pairs(wager_rows(rules, game.wager, unit_cents), say("service.recall.wager")),
        *([pairs(choices, say("service.recall.choices"))] if choices else []),
        *([Table(title=say("service.recall.wins"), rows=lines)] if lines else []),
    )


def _asked(shown: Shown | None) -> str:
    return "" if shown is None else shown.asked


def _choice(n: int, shown: Shown | None, positions: Mapping[int, int]) -> Words:
    """An answer by its number, and at a round of several by whose it was."""
    position = None if shown is None else positions.get(shown.seat)
    if position is None:
        return say("service.recall.choice", number=n)
    return say("service.recall.choice_of", number=n, position=position)


def _numbered(play: Play) -> range:
    """The numbers of the last steps of a long feature (E-02)."""
    return range(len(play.steps) - len(play.shown_steps) + 1, len(play.steps) + 1)


def _steps(machine: Machine, play: Play) -> tuple[Shown, ...]:
    """Take the play's steps again from its records. Where that is not possible, what was recorded."""
    game = _game(play)
    shown: list[Shown] = []
    try:
        conversation = Conversation(definition_of(machine, game.game), game.wager, game.table)
        for step in game.steps:
            answer = step.choice if isinstance(step.choice, int | str) else None
            if shown:
                shown[-1] = replace(shown[-1], answer=answer)
            conversation.advance(ReplayDraw(step.draws), None if answer is None else Choice(answer))
            shown.append(_shown(conversation))
    except (LocalError, PaytableError, ValueError):
        shown = []
    if shown:
        return tuple(shown)
    return () if game.outcome is None else (Shown(display=dict(game.outcome.display)),)


def _shown(conversation: Conversation) -> Shown:
    if conversation.outcome is not None:
        return Shown(display=dict(conversation.outcome.display))
    decision = conversation.decision
    if decision is None:
        raise LocalError("a game that neither asks nor ends")
    return Shown(dict(decision.prompt), decision.kind, tuple(decision.options), seat=decision.seat)


PAGES: Final = (Entry("recall", "games", Permission.READ_RECALL, PlayList),)
