"""A feature is one folder: an example that is declared only here appears in every part of a real machine."""

import asyncio
from dataclasses import replace

import pygame
import pytest
from jukebox import (
    FORM,
    JUKEBOX,
    SONG_ENDED,
    SONG_STARTED,
    JukeboxEvent,
    JukeboxKey,
    SongEnded,
    SongForm,
    SongStarted,
    Turntable,
)
from jukebox_audit import RULES
from rigs.display import open_display

from egm.app.features import FEATURES, check_claims_cover_owed_values, list_staff_registers
from egm.app.process import MachineProcess
from egm.app.view import build_snapshot
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.errors import InvariantError
from egm.features.memory_clear.carrying import inspect_claims
from egm.features.memory_clear.claim_book import ClaimMaker, ClearanceClaim
from egm.features.memory_clear.records import CLAIM_CARRIED_KIND
from egm.integrity.keys import IntegrityKey
from egm.kernel.entries import EntryError
from egm.kernel.events import Event, EventType, State
from egm.kernel.feature import LANGUAGES, Feature, Features
from egm.kernel.keys import ClearAction, KeyOwner, StorageKey
from egm.kernel.logs import Log
from egm.kernel.messages import Hello, decode_message, encode_message
from egm.kernel.rules import Rule
from egm.kernel.states import ALL_STATES, STATES_AFTER_BOOT
from egm.links.sas.journal_exceptions import iter_exceptions
from egm.people import Role
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes.drawing_context import format_message
from egm.screen.scenes.status import choose_status_text_and_colour
from egm.screen.text import LOCALE_BY_LANGUAGE
from egm.screen.theme import load_theme
from egm.screen.view import View
from egm.staff.events import MenuRequest
from egm.staff.registers import iter_register_lines
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import MachineRig, StoppedClock, write_undeclared_entry
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser, create_roster, list_enabled_actions
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.lab.entry_reference import format_entries
from tools.lab.rule_table import format_rule_table

WITH_JUKEBOX = Features((*FEATURES.features, JUKEBOX))
BY_A_MANAGER = {
    "form_id": FORM.id,
    "person": STAFF_NUMBER_BY_ROLE[Role.MANAGER],
    "persons": (STAFF_NUMBER_BY_ROLE[Role.MANAGER],),
}


class Reader(Painter):
    """A painter that stores the drawn texts."""

    def __init__(self, theme):
        super().__init__(theme)
        self.read = []

    def draw_text(self, words, *args, **options):
        self.read.append(words)
        return super().draw_text(words, *args, **options)


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path, features=WITH_JUKEBOX).boot()
    yield rig
    rig.close()


def notices_of(rig: MachineRig) -> list[str]:
    return [notice.code for notice in build_snapshot(rig.engine).notices]


def test_staff_start_a_song_at_the_menu_and_the_screen_shows_it(rig):
    menu = MenuUser(rig).open().identify(Role.MANAGER)
    menu.touch("form:song").enter("7").touch("confirm")
    assert rig.machine.memory.get(JukeboxKey.SONG) == 7
    assert rig.machine.component(Turntable).turns == 1
    assert "song_plays" in notices_of(rig)
    assert rig.journal.meters().values["songs"] == 1
    menu.home().touch("jukebox")
    (table,) = menu.page.tables
    assert table.rows[0].cells[1].value == 7
    menu.home().touch("form:song").enter("8").touch("confirm")
    assert rig.notice == "refused.no_song_plays"
    ((metric,),) = [
        family.samples for family in WITH_JUKEBOX.iter_metrics(rig.machine) if family.name == "egm_song"
    ]
    assert metric.value == 7


def test_its_texts_are_drawn_by_the_real_screen_in_both_languages(rig):
    """The texts are its menu line, page and notice."""
    menu = MenuUser(rig).open().identify(Role.MANAGER)
    menu.touch("form:song").enter("7").touch("confirm").home().touch("subject:machine")
    lines = menu.page
    menu.touch("jukebox")
    open_display()
    drawn = Reader(load_theme())
    picture = Picture(drawn.theme)
    picture.painter = drawn
    surface = pygame.Surface(picture.size_pixels)
    hello = decode_message(encode_message(Hello(feature_texts=WITH_JUKEBOX.texts_by_language)))
    for language, line, song, notice in (
        ("en", "Jukebox", "Song", "Song 7 is playing."),
        ("fr", "Juke-box", "Chanson", "La chanson 7 joue."),
    ):
        now = build_snapshot(rig.engine).model_copy(update={"language": language})
        for page, due in ((lines, line), (menu.page, song)):
            picture.draw_view(
                surface,
                apply_message(apply_message(View(), hello), now.model_copy(update={"service_page": page})),
            )
            assert due in drawn.read
        assert JUKEBOX.texts_by_language[language]["notice.song_plays"].format(song=7) == notice
        view = apply_message(apply_message(View(), hello), now)
        context = picture._build_context(view)
        assert [format_message(context, f"notice.{n.code}", n.values) for n in now.notices][-1] == notice
        later = {
            choose_status_text_and_colour(replace(context, view=replace(view, now=view.now + 10.0 + s)))[0]
            for s in range(7)
        }
        assert any(text.startswith(notice) for text in later)  # a lasting notice is repeated while it applies


def test_its_texts_are_in_the_greeting_of_a_machine_with_the_feature(tmp_path, monkeypatch):
    greeted = []

    async def work(machine):
        greeted.extend(machine._positions[0]._build_connection_messages())

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", work)
    state = StateFolder(tmp_path)
    state.create_private_folders()
    asyncio.run(MachineProcess(state, load_cabinet(), StoppedClock(), features=WITH_JUKEBOX).run())
    assert greeted[0].feature_texts == JUKEBOX.texts_by_language


def test_texts_missing_in_a_language_or_declared_twice_are_refused():
    half = Feature(name="half", texts_by_language={"en": {"notice.half": "Half."}})
    with pytest.raises(InvariantError, match=r"half: the text 'notice\.half' is missing in 'fr'"):
        Features((*FEATURES.features, half))
    other = Feature(name="other", texts_by_language=JUKEBOX.texts_by_language)
    with pytest.raises(InvariantError, match="two features declare the text"):
        Features((*WITH_JUKEBOX.features, other))
    assert tuple(LOCALE_BY_LANGUAGE) == LANGUAGES


def test_others_cannot_start_a_song_and_an_unexpected_event_is_recorded(rig):
    rig.engine.handle(JukeboxEvent.SONG_CHOSEN, number=7)
    assert rig.notice == "refused.idle"
    rig.engine.handle(JukeboxEvent.SONG_OVER)
    (record,) = rig.records("event.unexpected")
    assert (record["event"], record["reason"]) == ("song_over", "song_plays")
    assert "form:song" not in list_enabled_actions(MenuUser(rig).open().identify(Role.ATTENDANT).page)


def test_its_service_ends_the_song(tmp_path, monkeypatch):
    """The machine's process creates the service and sends it the events."""
    observed = {}

    async def work(machine):
        (player,) = (attached for _, attached in machine._attached_services if attached.name == "jukebox")
        running = asyncio.create_task(player.run())
        machine._first_machine.install(create_roster())
        machine._submit_machine_event(Event(EventType.OPEN_SERVICE_MENU, MenuRequest(key="operator")))
        machine._submit_machine_event(Event(JukeboxEvent.SONG_CHOSEN, SongForm(number=3, **BY_A_MANAGER)))
        observed["began"] = machine._first_machine.memory.get(JukeboxKey.SONG)
        while machine._first_machine.memory.get(JukeboxKey.SONG) is not None:  # noqa: ASYNC110 (its service ends it)
            await asyncio.sleep(0)
        observed["kinds"] = [
            entry.kind for entry in machine._first_machine.journal.entries(("song.started", "song.ended"))
        ]
        running.cancel()

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", work)
    state = StateFolder(tmp_path)
    state.create_private_folders()
    asyncio.run(MachineProcess(state, load_cabinet(), StoppedClock(), features=WITH_JUKEBOX).run())
    assert observed == {"began": 3, "kinds": ["song.started", "song.ended"]}


def test_its_rules_are_in_the_state_table():
    rows = [row for row in format_rule_table(WITH_JUKEBOX).splitlines() if "`song" in row]
    assert len(rows) == len(JUKEBOX.rules) == 2
    assert "`no_song_plays`" in rows[0]
    assert "`end_song`" in rows[1]
    assert set(format_rule_table().splitlines()) < set(format_rule_table(WITH_JUKEBOX).splitlines())


def test_the_audit_checks_its_entries_by_its_own_rules(rig, tmp_path):
    MenuUser(rig).open().identify(Role.MANAGER).touch("form:song").enter("7").touch("confirm").touch("leave")
    rig.engine.handle(JukeboxEvent.SONG_OVER)
    rig.close()
    with open_view(tmp_path) as view:
        bodies = list(view.iter_bodies())
    assert Auditor(GameFiles(), features=WITH_JUKEBOX, rules=RULES).audit_entries(bodies).findings == []
    unknown = Auditor(GameFiles()).audit_entries(bodies).findings
    assert len(unknown) == 2
    assert all("no feature of the machine declares this kind of entry" in finding.text for finding in unknown)


def test_its_entries_are_in_its_register_the_logs_and_the_hosts_exceptions(rig):
    MenuUser(rig).open().identify(Role.MANAGER).touch("form:song").enter("7").touch("confirm")
    (line,) = iter_register_lines(list_staff_registers(WITH_JUKEBOX)["songs"], rig.journal.entries())
    assert (line["song"], line["persons"]) == (7, [STAFF_NUMBER_BY_ROLE[Role.MANAGER]])
    (entry,) = rig.journal.entries("song.started")
    for log in (Log.ACCESS, Log.EVENTS):
        assert entry.id in [
            log_entry.id for log_entry in WITH_JUKEBOX.entry_declarations.read_log(rig.journal, log)
        ]
    raised = iter_exceptions(
        entry, WITH_JUKEBOX.entry_declarations, None, frozenset(), 0
    )  # it has no data to be read out
    assert [exception.code for exception in raised] == [0x71]


def test_an_invalid_entry_of_the_feature_is_refused_before_it_is_written(rig):
    before = rig.journal.sequence
    for record, reason in (
        (SongStarted(song=0, persons=("1",)), r"song\.started: record: song is 0, not above zero"),
        (SongStarted(song=7, persons=()), r"song\.started: record: persons is \[\], not one or more"),
        (SongEnded(song=7), r"song\.started: record: persons is missing"),
    ):
        with pytest.raises(EntryError, match=reason):
            rig.machine.post(SONG_STARTED, record, state={JukeboxKey.SONG: 7})
    with pytest.raises(EntryError, match=r"song\.ended: state\.song is missing"):
        rig.machine.post(SONG_ENDED, SongEnded(song=7))
    state = {JukeboxKey.SONG: None, IntegrityKey.SERVICE_CALL: True}
    with pytest.raises(
        EntryError, match=r"song\.ended: state\.service_call: the entry's declaration does not allow this key"
    ):
        rig.machine.post(SONG_ENDED, SongEnded(song=7), state=state)
    assert rig.journal.sequence == before


def test_an_invalid_entry_of_the_feature_is_reported_by_the_audit(rig, tmp_path):
    """A machine without checks writes the entry."""
    write_undeclared_entry(
        rig.machine,
        SONG_STARTED.kind,
        counts={"songs": 1},
        state={JukeboxKey.SONG: 7},
        details={"song": 7, "persons": ["1"], "volume": 11},
    )
    rig.close()
    with open_view(tmp_path) as view:
        bodies = list(view.iter_bodies())
    (finding,) = Auditor(GameFiles(), features=WITH_JUKEBOX).audit_entries(bodies).findings
    assert "record: volume is 11, a field that is not known" in finding.text


def test_the_journal_manual_has_its_entries_with_their_texts():
    page = format_entries(WITH_JUKEBOX)
    section = page.partition("### `song.started`")[2].partition("### ")[0]
    assert "Staff have started a song." in section
    assert "en: Song started · fr: Chanson lancée" in section
    assert "| `song` |" in section


def test_an_authorised_clear_carries_over_its_stored_state(rig, tmp_path):
    MenuUser(rig).open().identify(Role.MANAGER).touch("form:song").enter("7").touch("confirm")
    rig.close()
    carried = inspect_claims(tmp_path, WITH_JUKEBOX).carried_state_entry
    assert carried is not None
    assert carried.state["song"] == 7
    clear_with_decisions(tmp_path)
    restarted = MachineRig(tmp_path, features=WITH_JUKEBOX).boot()
    assert restarted.machine.memory.get(JukeboxKey.SONG) == 7
    restarted.close()


def test_a_machine_without_the_feature_stores_nothing_for_it(tmp_path):
    rig = MachineRig(tmp_path).boot()
    with pytest.raises(InvariantError, match="no feature declares the key 'song'"):
        write_undeclared_entry(rig.machine, "song.started", state={JukeboxKey.SONG: 7})
    rig.close()


def test_an_invalid_declaration_is_refused_before_the_machine_starts():
    class Owed(StorageKey):
        SONG = "song_owed", ClearAction.OWED, KeyOwner.POSITION

    class Coins(StorageKey):
        COINS = "coins", ClearAction.KEEP, KeyOwner.POSITION

    half = Rule(JukeboxEvent.SONG_OVER, STATES_AFTER_BOOT, (), (end_it_never,))
    for feature, reason in (
        (Feature(name="money"), "two features have the name money"),
        (
            Feature(name="coins", storage_keys=Coins),
            "'coins' is declared by MoneyKey.LAST_COIN_EVENT and by Coins.COINS",
        ),
        (Feature(name="half", rules=(half,)), "no rule decides song_chosen"),
        (
            Feature(name="late", rules=(Rule(EventType.NO_EVENT_WAITING, ALL_STATES),)),
            "a rule after one without guards can never apply",
        ),
    ):
        with pytest.raises(InvariantError, match=reason):
            Features((*FEATURES.features, feature))
    with pytest.raises(
        InvariantError,
        match="'song_owed' stores an owed amount, but no feature makes a claim of it at a memory clear",
    ):
        check_claims_cover_owed_values(
            Features((*FEATURES.features, Feature(name="owed", storage_keys=Owed)))
        )


class Tab(StorageKey):
    SONGS = "songs_owed", ClearAction.OWED, KeyOwner.MACHINE


def songs_paid_for(book, name):
    """Return the songs that are paid for and not played."""
    cents, state = book.old_state[name], book.cover_values(name)
    book.add_claim(
        ClearanceClaim(
            "songs", cents, {}, carry_entries=(book.build_entry("songs", CLAIM_CARRIED_KIND, state=state),)
        )
    )


def test_what_the_feature_owes_is_claimed_at_a_clear(tmp_path):
    tab = Feature(name="tab", storage_keys=Tab, contributions=(ClaimMaker(Tab.SONGS, songs_paid_for),))
    features = Features((*FEATURES.features, tab))
    check_claims_cover_owed_values(features)
    rig = MachineRig(tmp_path, features=features).boot()
    write_undeclared_entry(rig.machine, "songs.paid", state={Tab.SONGS: 300})
    rig.close()
    (claim,) = inspect_claims(tmp_path, features).proposals
    assert (claim.id, claim.claim.amount) == ("songs", 300)
    clear_with_decisions(tmp_path, features=features)
    restarted = MachineRig(tmp_path, features=features).boot()
    assert restarted.machine.memory.get(Tab.SONGS) == 300
    restarted.close()


def end_it_never(_machine, _event) -> None:
    """Change nothing, as an effect that does not end the song."""


def test_the_machine_stays_idle_while_a_song_plays(rig):
    assert rig.state is State.IDLE
    MenuUser(rig).open().identify(Role.MANAGER).touch("form:song").enter("7").touch("confirm").touch("leave")
    assert rig.state is State.IDLE
