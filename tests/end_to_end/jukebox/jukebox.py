"""Jukebox: a toy feature, whole in this folder: staff choose a song, and it plays until its time is over."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from egm.kernel.entries import Entry
from egm.kernel.events import Event, EventName, NoData, State
from egm.kernel.feature import Feature
from egm.kernel.keys import ClearAction, Key, Owner
from egm.kernel.logs import Log
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice, Snapshot
from egm.kernel.rules import Rule
from egm.kernel.service_pages import ServicePage
from egm.kernel.services import BackgroundService, MachineContext
from egm.kernel.significance import Effect, Significance
from egm.kernel.states import AWAKE, only
from egm.people import Permission
from egm.record_fields import Cents, Persons
from egm.staff.desk import MenuEntry, MenuPage, Move, refuse
from egm.staff.events import FilledForm
from egm.staff.form import Field, FieldKind, Form, build_form_rule
from egm.staff.registers import Register
from egm.staff.words import BACK, build_pair_table, say, say_number

SECONDS = 0.01


class JukeboxKey(Key):
    SONG = "song", ClearAction.IDENTITY, Owner.MACHINE


class JukeboxEvent(EventName):
    SONG_CHOSEN = "song_chosen"
    SONG_OVER = "song_over"


@dataclass(frozen=True, slots=True, kw_only=True)
class SongForm(FilledForm):
    """A form by which staff choose a song by its number."""

    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SongStarted:
    """Staff have started a song."""

    song: Cents
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class SongEnded:
    """A song is over."""

    song: Cents


SONG_STARTED: Final = Entry(
    kind="song.started",
    record=SongStarted,
    counts={"songs": 1},
    writes=(JukeboxKey.SONG,),
    significance=Significance(Effect.LOG, sas=0x71),
    logs=(Log.ACCESS,),
)
SONG_ENDED: Final = Entry(kind="song.ended", record=SongEnded, writes=(JukeboxKey.SONG,))


SONGS = Register("songs", (SONG_STARTED.kind,), ("song", "persons"), "the rules of the jukebox")


@dataclass
class Turntable:
    """What it holds besides its memory."""

    turns: int = 0


# ---------------------------------------------------------------------------------------------- guards, effects
def song_plays(machine: Machine, _: Event) -> bool:
    return machine.memory.get(JukeboxKey.SONG) is not None


def no_song_plays(machine: Machine, event: Event) -> bool:
    return not song_plays(machine, event)


def start_song(machine: Machine, event: Event) -> None:
    form = event.of(SongForm)
    started = SongStarted(song=form.number, persons=form.persons)
    machine.post(SONG_STARTED, started, state={JukeboxKey.SONG: form.number})
    machine.component(Turntable).turns += 1


def end_song(machine: Machine, _: Event) -> None:
    song = machine.memory.get(JukeboxKey.SONG)
    machine.post(SONG_ENDED, SongEnded(song=song), state={JukeboxKey.SONG: None})


# ---------------------------------------------------------------------------------------------- what it shows
FORM = Form(
    id="song",
    event=JukeboxEvent.SONG_CHOSEN,
    permission=Permission.CONFIGURE,
    fields=(Field(name="number", kind=FieldKind.NUMBER, value_min=1),),
    needs=(no_song_plays,),
    subject="machine",
)


class SongPage(MenuPage):
    def build_page(self, machine: Machine) -> ServicePage:
        song = machine.memory.get(JukeboxKey.SONG)
        rows = ((say("service.column.song"), say_number(song or 0)),)
        return ServicePage(
            id="", title=say("service.menu.jukebox"), tables=(build_pair_table(rows),), actions=(BACK,)
        )

    def answer(self, _machine: Machine, _action: str, _text: str) -> Move:
        return refuse("not_offered")


def notices(machine: Machine) -> Iterator[Notice]:
    song = machine.memory.get(JukeboxKey.SONG)
    if song is not None:
        yield Notice(code="song_plays", values={"song": song}, lasting=True)


def metrics(machine: Machine) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "egm_song", "The song that plays, or 0.", value=machine.memory.get(JukeboxKey.SONG) or 0
    )


class Player:
    """Lifts the needle when a song's time is over."""

    name = "jukebox"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._news = asyncio.Event()

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            await asyncio.sleep(SECONDS)
            if self._context.engine.accepts(JukeboxEvent.SONG_OVER):
                self._context.handle(Event(JukeboxEvent.SONG_OVER))

    def process_change(self, _now: Snapshot) -> None:
        self._news.set()


def player(context: MachineContext) -> Iterable[BackgroundService]:
    return (Player(context),)


WORDS = {
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
    keys=JukeboxKey,
    values={JukeboxKey.SONG: Cents},
    entries=(SONG_STARTED, SONG_ENDED),
    events={JukeboxEvent.SONG_CHOSEN: SongForm, JukeboxEvent.SONG_OVER: NoData},
    rules=(
        build_form_rule(
            (FORM,), JukeboxEvent.SONG_CHOSEN, only(State.SERVICE_MENU), (no_song_plays,), start_song
        ),
        Rule(JukeboxEvent.SONG_OVER, AWAKE, (song_plays,), (end_song,)),
    ),
    offers=(FORM, MenuEntry("jukebox", "machine", None, SongPage), SONGS),
    services=(player,),
    notices=notices,
    metrics=metrics,
    words=WORDS,
)
