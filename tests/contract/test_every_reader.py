"""All input is validated before it is handled: no input ends a reader or moves money.

One table lists every reader of outside input: peers on the link, signs, browsers, screens, the bench, devices,
hosts, USB sticks, files, and forms filled in by staff. Each reader receives hundreds of malformed and extreme messages
(thousands in the slow tier). A module that parses and is not in the table fails the last test.
"""

import ast
import asyncio
import json
import tomllib
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from malformed import messages
from rigs.three_levels import LINKED_MYSTERY, MYSTERY_TERMS, STAKE, make_levels_machine

import egm
import tools.floor
from egm.app.bench import Bench
from egm.app.wiring import build_event_from_intent
from egm.config.cabinet_file import DEFAULT_CABINET, CabinetFile
from egm.config.levels import LevelScope
from egm.config.mistakes import read_toml
from egm.errors import OperatorError
from egm.kernel.messages import BenchCommand, Hello, encode_message
from egm.kernel.services import MachineContext
from egm.links.screen.client import PollResult as NoNews
from egm.links.screen.server import ScreenServer
from egm.links.screen.start_up_activity import StartUpActivity
from egm.links.screen.start_up_activity import read_start_up_activity as read_starting
from egm.profiles import load_profile
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate, create_levels
from egm.progressive.enrolment_data import EnrolmentStick
from egm.progressive.level import LevelTerms
from egm.progressive.link_service import ProgressiveLinkService
from egm.progressive.messages import EnrolmentRequest
from egm.progressive.mqtt import MqttCarrier
from egm.progressive.pools import LevelKeeper, ProgressivePool
from egm.progressive.trigger import MysteryTrigger
from egm.screen.app import ScreenApp
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.web import choose_fitting_layout, decode_browser_message, decode_session_message
from egm.staff.form import FieldKind, FormField
from egm.testing.machine import MachineRig
from paytables import PaytableError
from paytables.definition import read_source
from paytables.game import build_game_from_json
from tools.dev.fuzz.codec_table import CODECS, feed_codec
from tools.dev.fuzz.sas import run_fuzz_input
from tools.dev.progressive.machine import MachineMemory, SimulatedMachine
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.serve import ControllerService
from tools.floor.progressive.sign import Sign, _process_value
from tools.floor.progressive.signs import SignBook
from tools.floor.progressive.store import SqliteStore

QUICK, SLOW = 250, 2000
LEVEL = LevelDefinition(
    id="TOP",
    names={"en": "Top", "fr": "Sommet"},
    scope=LevelScope.LINKED,
    terms=LevelTerms(base_cents=1500, increment=Fraction(1, 25)),
    stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=25, hit_rate=Fraction(1, 100)),
)
POOL = ProgressivePool(definition=LEVEL, game_id="game", level_name="top", keeper=LevelKeeper.CONTROLLER)
MACHINE = "EGM-1"
JOIN = {
    "type": "join", "machine": MACHINE, "nonce": "n",
    "levels": [{"level": "TOP", "stake_cents": 25, "odds": "1/100", "shown_cents": 0, "falls": 0}],
}  # fmt: skip
GIVEN = {
    "type": "contribution",
    "machine": MACHINE,
    "level": "TOP",
    "sequence": 1,
    "wager_cents": 25,
    "amount": "1",
}
CLAIM = {"type": "claim", "machine": MACHINE, "level": "TOP", "claim": "c", "after": 1, "shown_cents": 1500}
COMMIT = {
    "type": "commit",
    "machine": MACHINE,
    "level": "TOP",
    "claim": "c",
    "amount_cents": 1500,
    "way": "credit",
}
BEAT = {"type": "beat", "sign": "sign-1", "shown": [{"level": "TOP", "amount_cents": 1500}]}
VALUE = {
    "type": "value",
    "level": "TOP",
    "sequence": 9,
    "time_utc": "2026",
    "run": "ab",
    "amount_cents": 1500,
    "falls": 0,
}
DOWN = [
    VALUE,
    {"type": "joined", "machine": MACHINE, "nonce": f"{MACHINE}.1.1", "level": "TOP", "increment": "1/25",
     "base_cents": 1500, "counted": 0, "shares": {}},
    {"type": "counted", "machine": MACHINE, "level": "TOP", "sequence": 1},
    {"type": "award", "machine": MACHINE, "level": "TOP", "claim": "c", "amount_cents": 1500, "order": 1},
    {"type": "closed", "machine": MACHINE, "claim": "c"},
    {"type": "refused", "machine": MACHINE, "reason": "gap", "of": "contribution", "level": "TOP", "next": 1},
]  # fmt: skip


class Line:
    """A connection that delivers these messages and then ends."""

    def __init__(self, topic, payloads):
        self._messages = [SimpleNamespace(topic=topic, payload=payload, retain=False) for payload in payloads]

    @property
    async def messages(self):
        for message in self._messages:
            yield message


class Streams:
    """Both ends of a socket stream: the input is available at once, the replies are stored in ``sent``."""

    def __init__(self, *lines):
        self.reader = asyncio.StreamReader(limit=1 << 18)
        self.reader.feed_data(b"".join(lines))
        self.reader.feed_eof()
        self.sent = []
        self.transport = SimpleNamespace(get_write_buffer_size=lambda: 0)

    def write(self, data):
        self.sent.append(data)

    async def drain(self):
        pass

    def close(self):
        pass

    def is_closing(self):
        return False


def line_of(data):
    return data.replace(b"\n", b" ") + b"\n"


# ---------------------------------------------------------------------------------------------- the link
def controller(count, tmp_path):
    """Send malformed messages as a machine of the link and as a sign; a valid wager and hit still count once."""
    store, sent = SqliteStore(tmp_path / "levels.db"), []
    level_controller = Controller(store, egm_clock, run="")
    level_controller.open_levels([LEVEL])
    level_controller.admit_machine(MACHINE)
    signs = SignBook(store, egm_clock, lambda: 0, sent.append)
    service = ControllerService(level_controller, None, sent.append, signs=signs)

    async def deliver(topic, payloads):
        await service._receive_messages(Line(topic, payloads))
        while not service._inbox.empty():
            level_controller.process_messages([service._inbox.get_nowait()])

    up, beats = f"egm/progressive/machine/{MACHINE}/up", "egm/progressive/sign/sign-1/beat"
    right = [json.dumps(message).encode() for message in (JOIN, GIVEN, CLAIM, COMMIT)]
    asyncio.run(deliver(up, right))
    before = level_controller.list_level_records()[0].level
    assert before.hit_count == 1
    asyncio.run(deliver(up, messages([JOIN, GIVEN, CLAIM, COMMIT], count)))
    asyncio.run(deliver(beats, messages([BEAT], count)))
    assert level_controller.list_level_records()[0].level == before
    with level_controller.open_read_session() as session:
        refusals = [k for _, k, _ in session.read_events() if k in {"misunderstood", "refused", "forged"}]
        assert not session.read_events("dropped")
    signs.update_states()
    level_controller.verify_levels()
    store.close()
    return len(refusals)


def egm_clock():
    from datetime import UTC, datetime

    return datetime(2026, 1, 1, tzinfo=UTC)


def machine_of_a_link(count, _):
    """Send malformed controller messages to an enrolled machine without contributions: none pays anything."""
    memory = MachineMemory()
    sent = []
    machine = SimulatedMachine(
        MACHINE, POOL, memory, SimpleNamespace(send=sent.append), now_ns=lambda: 0, stale_after_ns=3 * 10**9
    )
    machine.handle_connected()
    carrier = MqttCarrier(None, MACHINE)
    asyncio.run(carrier._pass_messages_on(Line("", messages(DOWN, count)), machine))
    machine.link.send_due_messages(10**10)
    assert memory.hits == {}
    assert isinstance(sent[0], EnrolmentRequest)
    return len(memory.findings)


def machine_with_a_journal(count, tmp_path):
    """Send malformed controller messages to a machine with credit: none moves its money or stops it."""
    rig = make_levels_machine(tmp_path / "state", levels=LINKED_MYSTERY).boot().insert(500)
    moved = [entry.sequence for entry in rig.journal.entries() if entry.transfers]
    serial, sent = rig.machine.identity.serial, []

    def handle(event):
        rig.engine.submit(event)

    generator = SimpleNamespace(below=lambda *_: 7)
    secret = MysteryTrigger.draw("LUCKY", 1, Fraction(500), MYSTERY_TERMS, STAKE, generator)
    won = {"claim": "mystery.LUCKY.1", "sequence": 1, "amount_cents": 520, "order": 1}
    won["trigger"] = secret.to_json()

    async def deliver():
        context = MachineContext(rig.engine, None, None, rig.clock, handle)
        link = ProgressiveLinkService(context, SimpleNamespace(send=sent.append))
        link.handle_connected()
        link._send_and_submit()
        here = {"machine": serial, "level": "LUCKY"}
        joined = {"increment": "1/90", "base_cents": 500, "ceiling_cents": 550, "mystery": True}
        samples = [{**VALUE, "level": "LUCKY", "prize": 1, "commitment": secret.commitment}]
        samples += [{**DOWN[1], **here, **joined, "nonce": sent[0].nonce}]
        samples += [{**sample, **here} for sample in DOWN[2:4]]
        samples += [{**sample, "machine": serial} for sample in DOWN[4:]]
        samples += [{"type": "counted", "sequence": 1, "won": [won], **here}]
        carrier = MqttCarrier(None, serial)
        right = [json.dumps(sample).encode() for sample in samples]
        for data in (*right, *messages(samples, count)):
            await carrier._pass_messages_on(Line("", [data]), link)
            link._link.send_due_messages(rig.clock.ns)
            link._send_and_submit()
            link._submit_found_wins()
            link._process_shown_amounts()
            rig.clock.pass_seconds(1)
        await asyncio.sleep(0)

    asyncio.run(deliver())
    assert rig.credit_cents == 500
    assert [entry.sequence for entry in rig.journal.entries() if entry.transfers] == moved
    assert rig.records("progressive.refused")
    assert rig.records("progressive.not_ours")
    rig.close()
    return count


def sign(count, _):
    shown = Sign()
    wrong = [
        _process_value(
            shown, SimpleNamespace(topic="egm/progressive/level/TOP/value", payload=data, retain=False), 0
        )
        for data in messages([VALUE], count)
    ]
    shown.build_plates(1)
    return sum(bool(fault) for fault in wrong)


# ---------------------------------------------------------------------------------------------- the screen
def browser(count, _):
    """Send malformed browser messages to the frame loop of a screen without a machine."""
    samples = [{"tap": [0.5, 0.5]}, {"key": "Space", "char": " "}, {"room": [100, 200, 1.5]}, {"shown": True}]
    samples += [{"calm": True}, {"session": "x"}]
    did, refusal_count = [], 0
    for data in messages(samples, count):
        text = data.decode("utf-8", "replace")
        message_input = decode_browser_message(text)
        did += [] if message_input.input_action is None else [message_input.input_action]
        refusal_count += (
            message_input.input_action is None
            and message_input.window_size_pixels is None
            and not message_input.has_shown_frame
        )
        if message_input.window_size_pixels is not None:
            assert (
                choose_fitting_layout(
                    message_input.window_size_pixels, portrait=False, pixel_ratio=message_input.pixel_ratio
                )[1]
                > 0
            )
        assert isinstance(decode_session_message(text), str)
    faults = []
    picture = SimpleNamespace(
        layout=LANDSCAPE_LAYOUT,
        list_selectable_actions=lambda _: (),
        touched=lambda _v, x, y: faults.append(round(x + y)),
    )
    still = SimpleNamespace(picture=picture, inputs=lambda: did, frame=lambda: None, unlocked=False)
    silent = SimpleNamespace(poll=lambda _now: NoNews(), send=lambda _message: True)
    sounds = SimpleNamespace(follow=lambda _before, _after: None)
    app = ScreenApp(
        theme=None,
        surface=still,
        machine_client=silent,
        bench_client=None,
        sound_player=sounds,
        clock=lambda: 1.0,
    )
    for input_event in did:
        app._take_input(input_event)
    return refusal_count


def screen(count, tmp_path):
    """Send malformed requests to a machine with credit: none changes it, and each ends only its own connection."""
    rig = MachineRig(tmp_path / "state").boot().insert(20_00)
    peer_errors = []
    server = ScreenServer(
        tmp_path / "screen.sock", "token", build_greeting=tuple, on_peer_error=peer_errors.append,
        on_intent=lambda intent: rig.engine.submit(build_event_from_intent(intent, rig.engine.rules.payloads)),
    )  # fmt: skip
    samples = [
        {"type": "intent", "name": "bet", "value": 1, "options": {"level": 1}},
        {"type": "intent", "name": "choose", "value": "a"},
        {"type": "intent", "name": "limit", "value": 5, "options": {"of": "cents"}},
        {"type": "intent", "name": "answer", "value": "enter", "options": {"page": "menu", "input": "1"}},
        {"type": "intent", "name": "game", "value": "none"},
        {"type": "intent", "name": "denomination", "value": 5},
        {"type": "intent", "name": "language", "value": "en"},
        {"type": "intent", "name": "shown", "value": "x"},
        {"type": "alive"},
    ]

    async def deliver():
        for data in messages(samples, count):
            streams = Streams(encode_message(Hello(token="token")), line_of(data))
            await server._serve(streams.reader, streams)

    asyncio.run(deliver())
    assert rig.credit_cents == 20_00
    assert rig.records("game.start") == []
    rig.close()
    return len(peer_errors)


def bench(count, tmp_path):
    hands = Bench(tmp_path, {"bill": "id003", "printer": "ithaca"})
    hands._token = "token"
    samples = [
        {"type": "bench", "device": "bill", "action": "insert", "values": {"amount_cents": 500}},
        {"type": "bench", "device": "printer", "action": "paper", "values": {"tickets": 5}},
        {"type": "bench", "device": "bench", "action": "state", "values": {}},
        json.loads(BenchCommand(device="bill", action="jam").model_dump_json()),
    ]
    answers = []

    async def deliver():
        for data in messages(samples, count):
            streams = Streams(encode_message(Hello(token="token")), line_of(data))
            await hands._serve_client(streams.reader, streams)
            answers.extend(streams.sent[1:])

    asyncio.run(deliver())
    return sum(b'"ok":false' in answer for answer in answers)


# ---------------------------------------------------------------------------------------------- lines
def devices(count, _):
    """Decode damaged frames with every codec: they are refused, and only ProtocolError is raised."""
    refusal_count = 0
    for name, codec in CODECS.items():
        for number, data in enumerate(messages(list(codec.samples), count)):
            refusal_count += bool(feed_codec(name, data, 1 + number % 7).refused)
    return refusal_count


def host_line(count, _):
    """Send malformed bytes on a SAS line: the machine replies to the next valid poll."""
    samples = [
        bytes((choice, 3, 1, code)) + b"\x01\x00\x00\x05" for choice in (0, 1) for code in (0x2F, 0x72, 0x7B)
    ]
    for data in messages(samples, count):
        run_fuzz_input(data)
    return count


# ---------------------------------------------------------------------------------------------- files
def refusals(deliver, inputs, *kinds):
    refusal_count = 0
    for level_input in inputs:
        try:
            deliver(level_input)
        except kinds:
            refusal_count += 1
    return refusal_count


def cabinet_file(count, _):
    text = DEFAULT_CABINET.read_bytes()
    results = [read_toml(data.decode("utf-8", "replace"), CabinetFile) for data in messages([text], count)]
    return sum(bool(faults) for _, faults in results)


def profile(count, tmp_path):
    file = tmp_path / "profile.toml"
    text = next(Path(egm.__file__).parent.joinpath("profiles").rglob("*.toml")).read_bytes()

    def deliver(data):
        file.write_bytes(data)
        load_profile(file)

    return refusals(deliver, messages([text], count), OperatorError)


def level_file(count, _):
    text = '[[level]]\nid="TOP"\nname={en="T",fr="S"}\nstake_cents=25\nodds="1/100"\nbase_cents=1500\nincrement="1/25"\n'
    inputs = []
    for data in messages([tomllib.loads(text)], count):
        try:
            inputs.append(json.loads(data))
        except (ValueError, RecursionError):
            continue
    entries = [
        level_input if isinstance(level_input, dict) else {"level": level_input} for level_input in inputs
    ]
    return refusals(lambda data: create_levels(data, "levels.toml"), entries, OperatorError)


def game_text(count, _):
    sample = json.loads(json.dumps(tomllib.loads(read_source("river-wheel").data.decode()), default=str))
    inputs = (data.decode("utf-8", "replace") for data in messages([sample], count))
    return refusals(lambda text: build_game_from_json(text, "game"), inputs, PaytableError)


def stick(count, tmp_path):
    file = tmp_path / "stick"
    file.write_bytes(bytes(1 << 15))
    EnrolmentStick(file).write("request")
    content = file.read_bytes().rstrip(b"\0")

    def deliver(data):
        file.write_bytes(data.ljust(1 << 15, b"\0"))
        EnrolmentStick(file).read_answer()

    return refusals(deliver, messages([content], count), OperatorError)


def starting_file(count, tmp_path):
    file, refused_count = tmp_path / "starting.json", 0
    for data in messages([{"what": "game", "values": {"number": 1}}], count):
        file.write_bytes(data)
        activity = read_starting(file)
        assert activity is None or isinstance(activity, StartUpActivity)
        refused_count += activity is None
    return refused_count


def staff_form(count, _):
    fields = [
        FormField(name="f", kind=kind, choices=("a", "b"), value_min=1, value_max=100) for kind in FieldKind
    ]
    texts = [data.decode("utf-8", "replace") for data in messages([{"a": "12"}, b"12", b"a"], count)]
    texts += ["9" * 5000, "-1", "1e3", "NaN", "١٢", "²", "1_000", "0x10", "\0", " 5 "]
    return sum(refusals(field.parse_text, texts, OperatorError) for field in fields)


READERS = {
    controller: ("egm/progressive/messages.py", "tools/floor/progressive/heartbeat.py"),
    machine_of_a_link: ("egm/progressive/messages.py",),
    machine_with_a_journal: ("egm/progressive/messages.py",),
    sign: ("egm/progressive/messages.py",),
    browser: ("egm/screen/web.py",),
    screen: ("egm/kernel/messages.py", "egm/links/screen/server.py"),
    bench: ("egm/app/bench.py",),
    devices: (),
    host_line: (),
    cabinet_file: ("egm/config/mistakes.py",),
    profile: ("egm/profiles/profile.py",),
    level_file: ("egm/progressive/definition.py",),
    game_text: (),
    stick: ("egm/progressive/enrolment_data.py",),
    starting_file: ("egm/links/screen/start_up_activity.py",),
    staff_form: (),
}
#: Modules that parse no outside input or are tested elsewhere, each with its reason.
ELSEWHERE = {
    "egm/app/first_start/wizard.py": "the builder's seed beside the cabinet file: test_first_start",
    "egm/app/tilt_screen.py": "the cabinet file again, for its language only; any fault is none",
    "egm/config/cabinet_file.py": "the machine's own roster, whether it has an HMAC",
    "egm/integrity/signed_file.py": "signatures of persons over the cabinet file: test_signed_file",
    "egm/links/bench_client.py": "replies of the bench to `egm device`",
    "egm/links/screen/client.py": "the machine's messages to its screen: test_link_client",
    "egm/people/roles.py": "a table of the program",
    "egm/people/roster.py": "the machine's own roster, authenticated: tests/egm/people",
    "egm/people/wrong_pins.py": "the machine's own list of wrong PINs",
    "egm/progressive/connection.py": "certificates named by the cabinet file: test_link_certificates",
    "egm/progressive/link_folder.py": "the machine's own key",
    "egm/screen/art/__main__.py": "the screen's own child process",
    "egm/features/tournament/standings.py": "a venue's results file for `egm tournament settle`: test_tournament_command",
    "egm/screen/art/game_pictures.py": "the screen's own child process",
    "egm/screen/audio/sound_store.py": "the screen's own child process",
    "egm/screen/audio/scores.py": "a table of the program",
    "egm/screen/displays.py": "the kernel's structures and its news of displays: test_displays",
    "egm/screen/text.py": "the program's catalogues",
    "egm/screen/theme.py": "a table of the program",
    "egm/screen/web_auth.py": "the supervisor's memory of sessions: test_web",
    "egm/staff/identities.py": "the machine's own register",
    "egm/tickets/model.py": "the machine's own ticket ledger: tests/egm/tickets",
    "egm/tickets/move_log.py": "the machine's own ticket ledger: tests/egm/tickets",
    "egm/tickets/restoration.py": "the machine's own ticket ledger: tests/egm/tickets",
    "egm/tickets/store.py": "the machine's own ticket ledger: tests/egm/tickets",
    "egm/tickets/templates/template.py": "a jurisdiction's ticket template: tests/egm/tickets",
    "egm/verify/certificate.py": "certificates of games, signed: tests/egm/verify",
    "egm/verify/examine.py": "the program's own child process",
    "egm/verify/manifest.py": "the manufacturer's manifest, signed: tests/egm/verify",
    "tools/floor/progressive/certificates.py": "the floor's own folder: test_certificate_folder",
    "tools/floor/progressive/records.py": "the controller's own store",
    "tools/floor/progressive/mystery_secrets.py": "the controller's own store, encrypted",
    "tools/floor/progressive/signs.py": "the controller's own store",
    "tools/floor/progressive/store.py": "the controller's own store",
}
_PARSES = {
    "validate_json",
    "model_validate_json",
    "loads",
    "load",
    "recv",
    "readline",
    "readuntil",
    "recv_into",
}
_PARSES |= {
    "load_pem_x509_csr",
    "load_pem_x509_certificate",
    "load_pem_x509_crl",
    "load_pem_private_key",
    "parse_toml",
}
_PARSERS = {"json", "tomllib", "x509", "serialization"}


@pytest.mark.requirement("I-15", "K-06")
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
@pytest.mark.parametrize("count", [QUICK, pytest.param(SLOW, marks=pytest.mark.slow)])
def test_no_input_ends_a_reader_or_moves_money(reader, count, tmp_path):
    refusal_count = reader(count, tmp_path)
    assert refusal_count > count // 4, "a reader that counts refusals must refuse most of the malformed input"


def _parses(path):
    """Return whether a module calls a function that parses text or bytes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in _PARSES - {"load", "loads"}:
            return True
        if isinstance(called, ast.Attribute) and called.attr in _PARSES:
            holder = called.value.id if isinstance(called.value, ast.Name) else ""
            if called.attr not in {"load", "loads"} or holder in _PARSERS:
                return True
    return False


def test_every_module_that_parses_is_tested_or_listed_with_a_reason():
    roots = (Path(egm.__file__).parent, Path(tools.floor.__file__).parent)
    top = Path(egm.__file__).parents[1]
    files = [file for root in roots for file in root.rglob("*.py") if "testing" not in file.parts]
    parsing_modules = {str(file.relative_to(top)) for file in files if _parses(file)}
    driven = {module for modules in READERS.values() for module in modules}
    assert parsing_modules - driven - set(ELSEWHERE) == set(), "add the new reader to the table"
    assert (driven | set(ELSEWHERE)) - parsing_modules == set(), "this module no longer parses input"
