"""Jukebox, an example of a feature, complete in this folder: staff choose a song, which plays for a limited time."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from egm.kernel.entries import EntryDeclaration
from egm.kernel.events import EmptyPayload, Event, EventName, State
from egm.kernel.feature import Feature
from egm.kernel.keys import ClearAction, KeyOwner, StorageKey
from egm.kernel.logs import Log
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice, Snapshot
from egm.kernel.rules import Rule
from egm.kernel.service_pages import ServicePage
from egm.kernel.services import BackgroundService, MachineContext
from egm.kernel.significance import EventEffect, Significance
from egm.kernel.states import STATES_AFTER_BOOT, single_state
from egm.people import Permission
from egm.record_fields import PositiveNumber, StaffNumbers
from egm.staff.desk import MenuItem, MenuPage, PageResult, build_refusal
from egm.staff.events import FilledForm
from egm.staff.form import FieldKind, Form, FormField, build_form_rule
from egm.staff.page_texts import BACK_ACTION, build_number_text, build_text, build_two_column_table
from egm.staff.registers import Register

SECONDS = 0.01


class JukeboxKey(StorageKey):
    SONG = "song", ClearAction.KEEP, KeyOwner.MACHINE


class JukeboxEvent(EventName):
    SONG_CHOSEN = "song_chosen"
    SONG_OVER = "song_over"


@dataclass(frozen=True, slots=True, kw_only=True)
class SongForm(FilledForm):
    """A form in which staff choose a song by its number."""

    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SongStarted:
    """Staff have started a song."""

    song: PositiveNumber
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class SongEnded:
    """A song is over."""

    song: PositiveNumber


SONG_STARTED: Final = EntryDeclaration(
    kind="song.started",
    record=SongStarted,
    counts={"songs": 1},
    written_keys=(JukeboxKey.SONG,),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x71),
    logs=(Log.ACCESS,),
)
SONG_ENDED: Final = EntryDeclaration(kind="song.ended", record=SongEnded, written_keys=(JukeboxKey.SONG,))


SONGS = Register(
    name="songs",
    entry_kinds=(SONG_STARTED.kind,),
    columns=("song", "persons"),
    source_clauses="the rules of the jukebox",
)


@dataclass
class Turntable:
    """The run-time state of the feature, beside its stored values."""

    turns: int = 0


# ---------------------------------------------------------------------------------------------- guards, effects
def song_plays(machine: PositionMachine, _: Event) -> bool:
    return machine.memory.get(JukeboxKey.SONG) is not None


def no_song_plays(machine: PositionMachine, event: Event) -> bool:
    return not song_plays(machine, event)


def start_song(machine: PositionMachine, event: Event) -> None:
    form = event.read_payload(SongForm)
    started = SongStarted(song=form.number, persons=form.persons)
    machine.post(SONG_STARTED, started, state={JukeboxKey.SONG: form.number})
    machine.component(Turntable).turns += 1


def end_song(machine: PositionMachine, _: Event) -> None:
    song = machine.memory.get(JukeboxKey.SONG)
    machine.post(SONG_ENDED, SongEnded(song=song), state={JukeboxKey.SONG: None})


# ---------------------------------------------------------------------------------------------- pages and notices
FORM = Form(
    id="song",
    event=JukeboxEvent.SONG_CHOSEN,
    permission=Permission.CONFIGURE,
    fields=(FormField(name="number", kind=FieldKind.NUMBER, value_min=1),),
    submission_guards=(no_song_plays,),
    menu_section="machine",
)


class SongPage(MenuPage):
    def build_page(self, machine: PositionMachine) -> ServicePage:
        song = machine.memory.get(JukeboxKey.SONG)
        rows = ((build_text("service.column.song"), build_number_text(song or 0)),)
        return ServicePage(
            id="",
            title=build_text("service.menu.jukebox"),
            tables=(build_two_column_table(rows),),
            actions=(BACK_ACTION,),
        )

    def handle_input(self, _machine: PositionMachine, _action: str, _text: str) -> PageResult:
        return build_refusal("not_offered")


def list_notices(machine: PositionMachine) -> Iterator[Notice]:
    song = machine.memory.get(JukeboxKey.SONG)
    if song is not None:
        yield Notice(code="song_plays", values={"song": song}, is_lasting=True)


def list_metrics(machine: PositionMachine) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "egm_song", "The song that plays, or 0.", value=machine.memory.get(JukeboxKey.SONG) or 0
    )


class SongTimer:
    """The service that ends a song after its time."""

    name = "jukebox"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._has_changed = asyncio.Event()

    async def run(self) -> None:
        while True:
            await self._has_changed.wait()
            self._has_changed.clear()
            await asyncio.sleep(SECONDS)
            if self._context.engine.accepts_event_type(JukeboxEvent.SONG_OVER):
                self._context.submit_event(Event(JukeboxEvent.SONG_OVER))

    def process_change(self, _now: Snapshot) -> None:
        self._has_changed.set()


def create_song_timer(context: MachineContext) -> Iterable[BackgroundService]:
    return (SongTimer(context),)


TEXTS_BY_LANGUAGE = {
    "en": {
        "entry.song_started": "Song started",
        "entry.song_ended": "Song over",
        "service.menu.jukebox": "Jukebox",
        "service.column.song": "Song",
        "form.song.title": "Play a song",
        "form.song.number": "Number of the song",
        "service.needs.no_song_plays": "No song plays",
        "notice.refused.no_song_plays": "A song is playing already.",
        "notice.song_plays": "Song {song} is playing.",
    },
    "fr": {
        "entry.song_started": "Chanson lancée",
        "entry.song_ended": "Chanson terminée",
        "service.menu.jukebox": "Juke-box",
        "service.column.song": "Chanson",
        "form.song.title": "Faire jouer une chanson",
        "form.song.number": "Numéro de la chanson",
        "service.needs.no_song_plays": "Aucune chanson ne joue",
        "notice.refused.no_song_plays": "Une chanson joue déjà.",
        "notice.song_plays": "La chanson {song} joue.",
    },
}

JUKEBOX = Feature(
    name="jukebox",
    storage_keys=JukeboxKey,
    value_types={JukeboxKey.SONG: PositiveNumber},
    entry_declarations=(SONG_STARTED, SONG_ENDED),
    payload_classes={JukeboxEvent.SONG_CHOSEN: SongForm, JukeboxEvent.SONG_OVER: EmptyPayload},
    rules=(
        build_form_rule(
            (FORM,), JukeboxEvent.SONG_CHOSEN, single_state(State.SERVICE_MENU), (no_song_plays,), start_song
        ),
        Rule(JukeboxEvent.SONG_OVER, STATES_AFTER_BOOT, (song_plays,), (end_song,)),
    ),
    contributions=(FORM, MenuItem("jukebox", "machine", None, SongPage), SONGS),
    service_factories=(create_song_timer,),
    list_notices=list_notices,
    list_metrics=list_metrics,
    texts_by_language=TEXTS_BY_LANGUAGE,
)
