"""No message and no restart of the database server ends the controller; systemd restarts a process that failed."""

import asyncio
import json
import os
import shlex
import shutil
import signal
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from rigs.moments import CERTIFIED, make_certificates_permanent
from test_controller import SHARE, STAKE, Floor, _events, level

from egm.config.levels import ProgressiveLinkTable
from egm.progressive.messages import (
    INTEGER_MAX,
    Award,
    Contribution,
    ContributionCount,
    ProgressiveMessageError,
    Refusal,
    RefusalReason,
    decode_controller_message,
    decode_machine_message,
    encode,
)
from tools.cli.commands import progressive
from tools.floor.progressive import controller as module
from tools.floor.progressive.certificates import make_link_certificates
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.controller_metrics import ControllerMetrics
from tools.floor.progressive.held_messages import RulingError

UNIT = Path(module.__file__).with_name("open-egm-progressive.service")
HUGE = "9" * 600


@pytest.fixture
def floor(controller):
    return Floor(controller, "EGM-1", "EGM-2")


def _say(floor, **message):
    data = json.dumps({"machine": "EGM-2", **message}).encode()
    return floor.controller.process_messages([ReceivedMessage("EGM-2", decode_machine_message(data))])


def _join(stake=STAKE, odds="1/50000", **fields):
    expected = {"level": "grand", "stake_cents": stake, "odds": odds, **fields}
    return {"type": "join", "nonce": "n", "levels": [expected]}


def _give(**changes):
    values = {"level": "grand", "sequence": 1, "wager_cents": STAKE, "amount": str(SHARE)}
    return {"type": "contribution", **values, **changes}


def _claim(**changes):
    return {"type": "claim", "level": "grand", "claim": "c", "after": 1, "shown_cents": 1, **changes}


EXTREME = [
    _join(odds=HUGE),
    _join(odds=f"-{HUGE}/{HUGE}1"),
    _give(amount=HUGE),
    _claim(share=f"1/{HUGE}"),
    _join(stake=INTEGER_MAX),
    _join(shown_cents=INTEGER_MAX, falls=INTEGER_MAX),
    _give(sequence=INTEGER_MAX, wager_cents=INTEGER_MAX),
    _claim(after=INTEGER_MAX, shown_cents=INTEGER_MAX),
    _claim(combination="x" * 60_000, at_utc="x" * 5_000),
    {"type": "commit", "level": "grand", "claim": "c", "amount_cents": INTEGER_MAX},
]


@pytest.mark.requirement("I-15")
def test_extreme_messages_are_answered_and_change_no_level(floor):
    """Regression: extreme values ended the controller because the refusal was too long to send."""
    before = floor.record().level
    for message in EXTREME:
        (answer,) = _say(floor, **message)
        assert isinstance(answer, Refusal) or message["type"] == "join"
        assert decode_controller_message(encode(answer)) == answer
        assert floor.record().level == before
    assert isinstance(floor.give("EGM-1", 1), ContributionCount)
    floor.controller.verify_levels()


NONE = [
    _join(stake=INTEGER_MAX + 1),
    _join(stake=int(HUGE)),
    _join(falls=INTEGER_MAX + 1),
    _give(sequence=int(HUGE)),
    _give(wager_cents=10**30),
    _claim(after=int(HUGE)),
    _claim(shown_cents=10**30),
    {"type": "commit", "level": "grand", "claim": "c", "amount_cents": 10**30},
    {"type": "x" * 50_000},
    {"type": "claim", "y" * 50_000: 1},
    _join(odds="é" * 20_000),
    _claim(at_utc="\x1b[2J" * 9_000),
]


@pytest.mark.requirement("I-15")
def test_a_message_beyond_the_storage_limits_is_rejected_with_a_short_reason(floor):
    for message in NONE:
        with pytest.raises(ProgressiveMessageError) as raised:
            _say(floor, **message)
        assert len(str(raised.value)) < 600
        assert str(raised.value).isprintable()
        floor.controller.record_invalid_message("EGM-2", str(raised.value))


@pytest.mark.requirement("I-15")
def test_a_message_that_raises_an_error_is_recorded_and_the_others_take_effect(floor, monkeypatch):
    """An error in one machine's message must not stop the levels of other machines."""
    counted = Controller._count_contribution

    def faulty(self, session, message):
        if message.machine == "EGM-2":
            counted(self, session, message)
            raise ZeroDivisionError(message.machine)
        return counted(self, session, message)

    monkeypatch.setattr(Controller, "_count_contribution", faulty)
    messages = [
        ReceivedMessage(
            name, Contribution(machine=name, level="grand", sequence=n, wager_cents=STAKE, amount=SHARE)
        )
        for n in (1, 2, 3)
        for name in ("EGM-1", "EGM-2")
    ]
    answers = floor.controller.process_messages(messages)
    assert [(answer.machine, answer.last_counted_number) for answer in answers] == [
        ("EGM-1", n) for n in (1, 2, 3)
    ]
    assert floor.record().level.current_amount == 1_000_00 + 3 * SHARE
    dropped = [story for _, kind, story in _events(floor.controller) if kind == "dropped"]
    assert [(story["sender"], story["of"]) for story in dropped] == [("EGM-2", "contribution")] * 3
    floor.controller.verify_levels()


@pytest.mark.requirement("I-15")
def test_the_reason_of_a_ruling_has_a_limit_and_is_sent_to_the_machine(floor):
    """Regression: a reason of 585 characters ended the controller at every repeat of the claim."""
    floor.give("EGM-2", 1)
    assert isinstance(floor.claim("EGM-2", "a", 1), Award)
    assert floor.claim("EGM-2", "b", 1).reason is RefusalReason.CLAIM_HELD
    with pytest.raises(RulingError, match="585 characters; at most 400"):
        floor.controller.rule_on_held_message("b", "decline", ("1", "2"), "r" * 585)
    floor.controller.rule_on_held_message("b", "decline", ("1", "2"), "r" * 400)
    assert floor.claim("EGM-2", "b", 1).detail == "r" * 400


def test_a_void_hit_of_amount_zero_leaves_the_level_unchanged(controller):
    """A share below one minor unit is awarded as 0; returning it must not be reported as a defect."""
    grown = level(base_cents=5)
    generator = module.replace(
        grown.stake_and_hit_rate, hit_rate_by_share={Fraction(1, 10): Fraction(1, 100)}
    )
    controller.open_levels([module.replace(grown, id="tiny", stake_and_hit_rate=generator)])
    floor = Floor(controller, "EGM-1")
    floor.join("EGM-1", name="tiny")
    floor.give("EGM-1", 1, name="tiny")
    hit = {"level": "tiny", "claim": "c", "machine": "EGM-1", "share": "1/10"}
    (award,) = controller.process_messages(
        [ReceivedMessage("EGM-1", decode_machine_message(json.dumps(_claim(**hit)).encode()))]
    )
    assert award.amount_cents == 0
    floor.commit("EGM-1", "c", 0, way="void", name="tiny")
    assert floor.record("tiny").level.hit_count == 0
    controller.verify_levels()


@pytest.mark.slow
@pytest.mark.requirement("I-07")
def test_the_controller_survives_a_restart_of_postgresql(postgres, tmp_path, monkeypatch):
    """Regression: the controller ended when its database restarted, and every linked level was down."""
    dsn = postgres.create_database("restarted")
    make_certificates_permanent(monkeypatch)
    make_link_certificates(tmp_path, (), "127.0.0.1", CERTIFIED, ())
    files = {"authority": "authority.crt", "certificate": "controller.crt", "key": "controller.key"}
    slot = ProgressiveLinkTable(
        host="127.0.0.1", port=9, **{name: tmp_path / file for name, file in files.items()}
    )
    monkeypatch.setattr(progressive, "_STAND_BY_RETRY_SECONDS", 0.01)
    monkeypatch.setattr("tools.floor.progressive.serve._TERM_RENEWAL_SECONDS", 0.01)
    lines = []

    async def run():
        seen = {
            key: asyncio.Event() for key in ("no connection to the broker", "not served until", "on standby")
        }

        def echo(line):
            lines.append(line)
            for key, event in seen.items():
                if key in line:
                    event.set()

        monkeypatch.setattr(progressive, "echo", echo)
        serving = asyncio.create_task(
            progressive._serve(dsn, (level(),), slot, (), None, ControllerMetrics(), None, stand_by=False)
        )
        async with asyncio.timeout(120):
            await seen["no connection to the broker"].wait()
            await asyncio.to_thread(postgres.stop)
            await seen["not served until"].wait()
            await seen["on standby"].wait()
            seen["no connection to the broker"].clear()
            await asyncio.to_thread(postgres.start)
            await seen["no connection to the broker"].wait()
            os.kill(os.getpid(), signal.SIGTERM)
            await serving

    asyncio.run(run())
    assert [line for line in lines if "opened at" in line] == ["grand: opened at 100000"]


def test_the_controllers_systemd_unit_is_valid_and_restarts_it(tmp_path):
    text = UNIT.read_text()
    assert "Restart=always" in text
    assert "StartLimitIntervalSec=0" in text
    (started,) = (line for line in text.splitlines() if line.startswith("ExecStart="))
    arguments = shlex.split(started.partition("-m tools.cli progressive ")[2].replace("$MORE", ""))
    for option in (argument for argument in arguments if argument.startswith("--")):
        assert option in CliRunner().invoke(progressive.command, ["serve", "--help"]).output
    assert arguments[0] == "serve"
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    system = tmp_path / "usr/lib/systemd/system"
    system.mkdir(parents=True)
    for unit in (*Path("/lib/systemd/system").glob("*"), UNIT):
        if unit.is_file():
            shutil.copy(unit, system)
    result = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", f"--root={tmp_path}", UNIT.name],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert [
        line
        for line in result.stderr.splitlines()
        if UNIT.stem in line and "not executable" not in line and "postgresql" not in line
    ] == []
