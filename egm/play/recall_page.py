"""Game recall pages: the last plays, each with all its data and a step-by-step replay of its pictures.

A play is replayed from its recorded draws and choices with the definition that it was played with, as after a
restart (E-01 to E-03). If the replay fails, the recorded outcome is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from egm.errors import LocalError
from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, Replay, ServicePage
from egm.people import Permission
from egm.play.definitions import find_definition
from egm.play.entries import GAME_VOID, RECALL_SHOWN, RecallShown
from egm.play.records.game_record import GameChoice, GameRecord, GameReference
from egm.play.stepped_game import REPLAY_ERRORS, SteppedGame
from egm.play.wager_texts import build_win_rows, describe_choice, iter_wager_rows
from egm.record_codec import from_json
from egm.staff.desk import MenuItem, MenuPage, OpenPage, PageResult, ServiceDesk, StayOnPage, build_refusal
from egm.staff.page_texts import (
    BACK_ACTION,
    build_code_text,
    build_column_titles,
    build_money_text,
    build_multilingual_text,
    build_name_list_text,
    build_number_text,
    build_plain_text,
    build_text,
    build_time_text,
    build_two_column_table,
)
from meters import StoredEntry, recall
from meters.recall import Play
from meters.transaction import JSON
from paytables import Choice, Game, ReplayDrawSource

#: Number of plays listed, from the newest.
_LISTED_PLAYS_MAX: Final = 50


class RecallListPage(MenuPage):
    """The service page that lists the last plays, newest first; a play in progress comes first."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page that lists the last plays, one row per play."""
        rows = tuple(
            _build_play_row(machine, play)
            for play in recall.iter_recent_plays(machine.journal, _LISTED_PLAYS_MAX)
        )
        position_column = ("position",) if machine.position.position_count > 1 else ()
        table = PageTable(
            columns=build_column_titles("time", *position_column, "game", "bet", "win", "state"), rows=rows
        )
        return ServicePage(
            id="", title=build_text("service.menu.recall"), tables=(table,), actions=(BACK_ACTION,)
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the page of the play that was selected in the list."""
        play_id = action
        play = _find_play(machine, play_id)
        if play is None:
            return build_refusal("not_offered")
        person = machine.component(ServiceDesk).signed_in_person
        machine.post(
            RECALL_SHOWN,
            RecallShown(play_id=play.play_id, person="" if person is None else person.id),
        )
        return OpenPage(
            RecallPlayPage(
                play,
                _replay_steps(machine, play),
                _map_seats_to_positions(machine, play),
                has_hidden_pictures=_has_hidden_pictures(machine, play),
            )
        )


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One step of a recalled play as a picture: a decision with its options, or the outcome."""

    display: dict[str, JSON]
    decision_kind: str = ""
    options: tuple[int | str, ...] = ()
    answer: int | str | None = None
    seat: int = 0
    """At a table with several seats, the number of the seat whose player had to decide."""


@dataclass(slots=True)
class RecallPlayPage(MenuPage):
    """The service page of one recalled play: its data, then the picture of each of its steps."""

    play: Play
    steps: tuple[ReplayStep, ...]
    position_by_seat: Mapping[int, int] = field(default_factory=dict)
    """For a round of several seats, the number of the machine's player position at each seat."""
    has_hidden_pictures: bool = False
    """Whether the pictures are withheld, because they could show cards that must stay hidden until the game ends."""
    step_index: int = -1
    """The index of the replayed step that is shown; -1 for the page with the play's data."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the play's data page, or the picture of one of its steps."""
        title = build_text("service.recall.title", play=self.play.play_id)
        if self.step_index < 0:
            can_show = bool(self.steps) and not self.has_hidden_pictures
            show_action = PageAction(
                id="show", label=build_text("service.recall.show"), style="confirm", enabled=can_show
            )
            tables = _build_play_tables(machine, self.play, self.steps, self.position_by_seat)
            if self.has_hidden_pictures:
                reason = build_text("service.recall.pictures_hidden", number=self.play.position)
                tables = (*tables, build_two_column_table((("recall.pictures", reason),)))
            return ServicePage(id="", title=title, tables=tables, actions=(BACK_ACTION, show_action))
        has_later_step = self.step_index + 1 < len(self.steps)
        position_number = self.position_by_seat.get(self.steps[self.step_index].seat)
        position_row = (
            ()
            if position_number is None
            else (("recall.of", build_text("handpay.position", number=position_number)),)
        )
        return ServicePage(
            id="",
            title=title,
            replay=self._build_replay(),
            tables=(build_two_column_table(position_row),)
            if position_row and self.steps[self.step_index].decision_kind
            else (),
            actions=(
                BACK_ACTION,
                PageAction(
                    id="earlier",
                    label=build_text("service.recall.earlier"),
                    style="back",
                    enabled=self.step_index > 0,
                ),
                PageAction(id="later", label=build_text("service.recall.later"), enabled=has_later_step),
                PageAction(id="figures", label=build_text("service.recall.figures")),
            ),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Go to another step of the recalled play, or back to its data page."""
        step_by_action = {
            "show": 0,
            "figures": -1,
            "earlier": self.step_index - 1,
            "later": self.step_index + 1,
        }
        if (
            self.has_hidden_pictures
            or action not in step_by_action
            or step_by_action[action] >= len(self.steps)
            or step_by_action[action] < -1
        ):
            return build_refusal("not_offered")
        self.step_index = step_by_action[action]
        return StayOnPage()

    def _build_replay(self) -> Replay:
        """Return the current step of the recalled play as the screen draws it, with the mark RECALL."""
        step, record = self.steps[self.step_index], _read_complete_record(self.play)
        returned_credits = (
            None if self.play.end_entry is None or record.outcome is None else record.outcome.returned_credits
        )
        return Replay(
            play_id=self.play.play_id,
            game_id=record.game_reference.id,
            game_version=record.game_reference.version,
            time_utc=self.play.start_entry.time_utc.isoformat(),
            denomination_cents=record.denomination_cents,
            bet_credits=record.bet_credits,
            bet_wager=dict(record.wager.options),
            credit_before_cents=record.credit_before_cents,
            returned_credits=returned_credits,
            paid_cents=self.play.payout_cents,
            step=self.step_index + 1,
            steps=len(self.steps),
            decision_kind=step.decision_kind,
            options=step.options,
            answer=step.answer,
            answered=None if step.answer is None else describe_choice(step.decision_kind, step.answer),
            display=step.display,
        )


def _find_play(machine: PositionMachine, play_id: str) -> Play | None:
    """Return the play with this id, or None."""
    return next(
        (
            play
            for play in recall.iter_recent_plays(machine.journal, _LISTED_PLAYS_MAX)
            if play.play_id == play_id
        ),
        None,
    )


def _map_seats_to_positions(machine: PositionMachine, play: Play) -> dict[int, int]:
    """Return the player position at each seat of the play's shared round; empty if it was played alone."""
    round_id = _read_first_record(play).round_id
    recent_plays = recall.iter_recent_plays(machine.journal, _LISTED_PLAYS_MAX) if round_id else ()
    records = ((_read_first_record(seat_play), seat_play.position) for seat_play in recent_plays)
    return {
        record.wager.seat or 0: position_number
        for record, position_number in records
        if record.round_id == round_id
    }


def _has_hidden_pictures(machine: PositionMachine, play: Play) -> bool:
    """Return whether the play's pictures must be withheld until it ends.

    This is so if it is another position's undecided game in a shared round: its cards must stay hidden.
    """
    record = _read_complete_record(play)
    is_undecided = record.outcome is None and not play.end_kind
    return is_undecided and record.wager.seat is not None and play.position != machine.position.number


def _read_first_record(play: Play) -> GameRecord:
    """Return the play's game as recorded at its start."""
    return from_json(
        GameRecord, play.start_entry.record, f"entry {play.start_entry.sequence}, {play.start_entry.kind}"
    )


def _read_complete_record(play: Play) -> GameRecord:
    """Return the play's game record with all later steps applied."""
    record = _read_first_record(play)
    for step in play.step_entries:
        record = record.with_step(_read_step(step))
    return record


def _read_step(entry: StoredEntry) -> GameChoice:
    """Return the record of a play's second or later step from the step's journal entry."""
    return from_json(GameChoice, entry.record, f"entry {entry.sequence}, {entry.kind}")


def _build_play_row(machine: PositionMachine, play: Play) -> PageRow:
    """Return a play's row in the list of plays: time, position, game, bet, win and state."""
    return PageRow(
        cells=(
            build_time_text(play.start_entry.time_utc.isoformat()),
            *((build_number_text(play.position),) if machine.position.position_count > 1 else ()),
            _find_game_title(machine, _read_first_record(play).game_reference),
            build_money_text(play.bet_cents),
            build_plain_text("") if play.payout_cents is None else build_money_text(play.payout_cents),
            build_text(f"service.recall.{_describe_play_state(play)}"),
        ),
        action=play.play_id,
        icon="" if play.end_kind else "warning",
    )


def _describe_play_state(play: Play) -> str:
    """Return a play's state, ``open``, ``void`` or ``ended``: the last part of the key of its screen text."""
    if not play.end_kind:
        return "open"
    return "void" if play.end_kind == GAME_VOID.kind else "ended"


def _find_game_title(machine: PositionMachine, game_reference: GameReference) -> PageText:
    """Return the title of the game of a recalled play, or the game's id if its definition is not available."""
    game = _find_definition(machine, game_reference)
    return build_plain_text(game_reference.id) if game is None else build_multilingual_text(game.title)


def _find_definition(machine: PositionMachine, game_reference: GameReference) -> Game | None:
    """Return the definition of a recalled play's game, or None if it is no longer available."""
    try:
        return find_definition(machine, game_reference)
    except LocalError:
        return None


def _build_play_tables(
    machine: PositionMachine, play: Play, steps: tuple[ReplayStep, ...], position_by_seat: Mapping[int, int]
) -> tuple[PageTable, ...]:
    """Return all recorded data of a play as tables (E-01, E-04)."""
    record = _read_complete_record(play)
    game, unit_cents = _find_definition(machine, record.game_reference), record.denomination_cents
    paid_cents, credit_after_cents = play.payout_cents or 0, play.credit_after_cents
    rows: list[tuple[str | PageText, PageText]] = [
        ("column.time", build_time_text(play.start_entry.time_utc.isoformat())),
        *(
            (("column.position", build_number_text(play.position)),)
            if machine.position.position_count > 1
            else ()
        ),
        ("column.game", _find_game_title(machine, record.game_reference)),
        (
            "recall.version",
            build_plain_text(f"{record.game_reference.version}  {record.game_reference.digest[:16]}"),
        ),
        ("recall.credit_before", build_money_text(record.credit_before_cents)),
        ("column.bet", build_money_text(play.bet_cents)),
        ("column.win", build_plain_text("") if play.payout_cents is None else build_money_text(paid_cents)),
        (
            "recall.credit_after",
            build_plain_text("") if credit_after_cents is None else build_money_text(credit_after_cents),
        ),
        ("column.state", build_text(f"service.recall.{_describe_play_state(play)}")),
    ]
    rows += [
        (
            # the second part of an account's name, such as "bill" of "world:bill"; otherwise the whole source
            build_code_text("source", source.partition(":")[2].partition(":")[0] or source),
            build_money_text(cents),
        )
        for source, cents in play.added_cents_by_source.items()
    ]
    step_by_answer_index = dict(enumerate(steps, 1))
    first_answer_index = len(record.steps) - len(play.step_entries)
    indexes_answered_by_table = {
        answer_index
        for answer_index, entry in enumerate(play.step_entries, first_answer_index)
        if _read_step(entry).is_table_answer
    }
    choices = [
        (
            _format_answer_label(
                answer_index,
                step_by_answer_index.get(answer_index),
                position_by_seat,
                is_by_table=answer_index in indexes_answered_by_table,
            ),
            describe_choice(
                _find_decision_kind(step_by_answer_index.get(answer_index)), record.steps[answer_index].choice
            ),
        )
        for answer_index in _list_shown_answer_indexes(record)
    ]
    rows += [
        (build_text("service.recall.level", level=level), build_money_text(cents))
        for level, cents in play.levels_won
    ]
    if play.prizes_won:
        rows.append(("recall.prizes", build_name_list_text(play.prizes_won)))
    lines = build_win_rows(game, () if record.outcome is None else record.outcome.settlements, unit_cents)
    return (
        build_two_column_table(rows),
        build_two_column_table(
            iter_wager_rows(game, record.wager, unit_cents, position_by_seat),
            build_text("service.recall.wager"),
        ),
        *([build_two_column_table(choices, build_text("service.recall.choices"))] if choices else []),
        *([PageTable(title=build_text("service.recall.wins"), rows=lines)] if lines else []),
    )


def _find_decision_kind(step: ReplayStep | None) -> str:
    """Return the kind of decision that the player had to make in a step; empty if the step is the outcome."""
    return "" if step is None else step.decision_kind


def _format_answer_label(
    index: int, step: ReplayStep | None, position_by_seat: Mapping[int, int], *, is_by_table: bool
) -> PageText:
    """Return the label of a recorded answer: its number and, in a shared round, the position that answered.

    ``is_by_table``: the table gave the answer for the position.
    """
    position_number = None if step is None else position_by_seat.get(step.seat)
    if position_number is None:
        return build_text("service.recall.choice", number=index)
    name = "choice_by_table" if is_by_table else "choice_of"
    return build_text(f"service.recall.{name}", number=index, position=position_number)


def _list_shown_answer_indexes(record: GameRecord) -> range:
    """Return the indexes of the recorded answers to show; of a long play, only the last ones (E-02)."""
    return range(max(1, len(record.steps) - recall.RECALLED_STEPS_MAX), len(record.steps))


def _replay_steps(machine: PositionMachine, play: Play) -> tuple[ReplayStep, ...]:
    """Return the pictures of a play's steps by replaying its records; if that fails, only the recorded outcome."""
    record = _read_complete_record(play)
    steps: list[ReplayStep] = []
    try:
        stepped_game = SteppedGame(
            find_definition(machine, record.game_reference), record.wager, record.table_state
        )
        for step in record.steps:
            answer = step.choice if isinstance(step.choice, int | str) else None
            if steps:
                steps[-1] = replace(steps[-1], answer=answer)
            stepped_game.advance(ReplayDrawSource(step.draws), None if answer is None else Choice(answer))
            steps.append(_build_step(stepped_game))
    except REPLAY_ERRORS:
        steps = []
    if steps:
        return tuple(steps)
    return () if record.outcome is None else (ReplayStep(display=dict(record.outcome.display)),)


def _build_step(stepped_game: SteppedGame) -> ReplayStep:
    """Return a replayed game's current picture: the final one, or the decision that the player had to make."""
    if stepped_game.outcome is not None:
        return ReplayStep(display=dict(stepped_game.outcome.display))
    decision = stepped_game.decision
    if decision is None:
        raise LocalError("the game has neither a decision nor an outcome")
    return ReplayStep(dict(decision.prompt), decision.kind, tuple(decision.options), seat=decision.seat)


MENU_ITEMS: Final = (MenuItem("recall", "games", Permission.READ_GAME_RECALL, RecallListPage),)
