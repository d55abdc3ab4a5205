"""Screen, SAS, terminal, Prometheus, printed table, export and audit of one journal agree (K-08).

After a random session, all of them are read at one journal sequence.
"""

import json
import random
import re
import threading
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from run_rig import egm
from sas_cabin import Cabin, wait_for

from egm.links.metrics import build_series

#: SAS meter code -> the machine's own meters it sums, written from the protocol's list of meters, by hand.
SAS_CENTS = {
    0x00: ("coin_in",),
    0x01: ("coin_out", "mach_progressive", "mach_bonus"),
    0x02: ("att_jackpot", "att_progressive", "att_bonus"),
    0x03: ("att_cancel_credit",),
    0x08: ("phys_coin_in",),
    0x0B: ("bill_in.value",),
    0x0C: ("credits",),
    0x0D: ("ticket_in.cashable.value", "ticket_in.promo_cashable.value"),
    0x0E: ("ticket_out.cashable.value",),
    0x24: ("drop_total",),
}
SAS_COUNTS = {
    0x05: ("games_played",),
    0x06: ("games_won",),
    0x07: ("games_lost",),
    0x12: ("ticket_out.cashable.count",),
}
#: Polls of one meter: poll -> meter code.
SINGLE = {
    0x10: 0x04,
    0x11: 0x00,
    0x12: 0x01,
    0x13: 0x24,
    0x14: 0x02,
    0x15: 0x05,
    0x16: 0x06,
    0x17: 0x07,
    0x1A: 0x0C,
}


def play_and_cash_out(cabin: Cabin, generator: random.Random) -> None:
    """Insert bills, play, and cash out and redeem tickets in random order; then open doors, with games between."""
    cabin.insert_bill(generator.choice((500, 1000)))
    for _ in range(generator.randint(10, 16)):
        match generator.choice(("play", "play", "play", "bet", "bill", "ticket")):
            case "play":
                wait_for(lambda: cabin.player.snapshot)
                if "play" in cabin.player.snapshot.accepted_inputs:
                    cabin.player.play_games()
            case "bet":
                cabin.player.send_intent("bet", generator.choice((1, 3, 5)))
            case "bill":
                cabin.insert_bill(generator.choice((500, 2000)))
            case "ticket":
                credit = wait_for(lambda: cabin.player.snapshot).credit_cents
                cabin.player.send_intent("cash_out")
                cabin.player.wait_until_shown(state="idle", credit_cents=0)
                cabin.insert_ticket(credit)
                cabin.player.wait_until_shown(state="idle")
    for _ in range(generator.randint(1, 3)):
        cabin.operate("io", "door", name="main", open=True)
        cabin.player.wait_until_shown(state="door_open")
        cabin.operate("io", "door", name="main", open=False)
        cabin.player.wait_until_shown(state="idle")
        cabin.player.play_games()


def prometheus(cabin: Cabin) -> dict:
    port = (cabin.folder.run_folder / "metrics.port").read_text()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return {
            (sample.name, *sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.read().decode())
            for sample in family.samples
        }


def wait_for_equal_sequences(cabin: Cabin) -> dict:
    """Return the output of ``egm meters`` once screen and Prometheus have reached its sequence."""

    def all_there():
        report = json.loads(egm("meters", "--json", "--state", cabin.folder.root))
        sequence = report["sequence"]
        if sequence not in cabin.player.sequences:  # a driver's note, which changes nothing anybody sees
            cabin.player.send_intent("service")
            return None
        return prometheus(cabin).get(("egm_journal_sequence",)) == sequence and report

    return wait_for(all_there, "screen, Prometheus and terminal never met at one sequence")


class Floor(threading.Thread):
    """A host that reads all meters repeatedly, by every poll for them; ``latest`` is its last reading."""

    def __init__(self, cabin: Cabin) -> None:
        super().__init__(daemon=True)
        self._cabin = cabin
        self._ending = threading.Event()
        self.latest: tuple[dict, dict, dict] | None = None

    def run(self) -> None:
        codes = sorted({*SAS_CENTS, *SAS_COUNTS, 0x04})
        with self._cabin.host() as host:
            while not self._ending.is_set():
                by_code = host.read_meters(codes)
                single = {code: host.send_poll(poll).values["value"] for poll, code in SINGLE.items()}
                answer = host.send_poll(0x2F, {"game": 0, "codes": [{"code": code} for code in codes[:10]]})
                host.poll()
                self.latest = by_code, single, {row["code"]: row["value"] for row in answer.values["meters"]}

    def reading(self) -> tuple[dict, dict, dict]:
        """Return the next complete reading that starts after this call."""
        for _ in range(2):
            self.latest = None
            wait_for(lambda: self.latest, "the host got no reading")
        return self.latest

    def __enter__(self):
        self.start()
        self.reading()
        return self

    def __exit__(self, *_):
        self._ending.set()
        self.join()


def all_readings(cabin: Cabin, floor: Floor, exported: Path) -> SimpleNamespace | None:
    """Return every reading, or None if an entry was recorded meanwhile."""
    status = wait_for_equal_sequences(cabin)
    by_code, single, selected = floor.reading()
    exported.unlink(missing_ok=True)
    egm("audit", "export", exported, "--state", cabin.folder.root)
    [audit] = json.loads(egm("audit", "verify", exported, "--json")).values()
    found = SimpleNamespace(
        status=status,
        by_code=by_code,
        singles=(single, selected),
        screen=cabin.player.sequences[status["sequence"]],
        scraped=prometheus(cabin),
        printed=egm("meters", "--all", "--state", cabin.folder.root),
        audit=audit,
    )
    after = json.loads(egm("meters", "--json", "--state", cabin.folder.root))
    return found if after["head"] == status["head"] else None


@pytest.mark.requirement("K-08", "D-16", "K-14")
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4, 5))])
def test_every_reading_of_one_sequence_agrees(tmp_path, seed):
    with Cabin(tmp_path, {"main": {}}) as cabin, Floor(cabin) as floor:
        play_and_cash_out(cabin, random.Random(seed))
        readings = wait_for(lambda: all_readings(cabin, floor, tmp_path / "audit.jsonl"), "never at rest")

    status, meters = readings.status, readings.status["meters"]
    assert meters["games_played"] >= 1
    assert readings.screen.credit_cents == meters["credits"] == status["credits_cents"]

    for code, names in {**SAS_CENTS, **SAS_COUNTS}.items():  # a credit is a cent on this line
        assert readings.by_code[code] == sum(meters[name] for name in names), hex(code)
    for values in readings.singles:
        assert values.items() <= readings.by_code.items()

    for meter, value in meters.items():
        if ".since_" not in meter:
            series = build_series(meter)
            assert readings.scraped[series.name, *sorted(series.labels.items())] == value, meter

    assert f"entry {status['sequence']}" in readings.printed
    rows = dict(re.findall(r"^(\S+) +(-?\d+)  ", readings.printed, re.MULTILINE))
    assert {name: int(value) for name, value in rows.items()} == meters

    assert readings.audit["ok"], readings.audit
    assert readings.audit["head"] == status["head"]
    assert {name: value for name, value in readings.audit["meters"].items() if ".since_" not in name} == {
        name: value for name, value in meters.items() if ".since_" not in name
    }
    assert readings.audit["credits_cents"] == readings.screen.credit_cents
