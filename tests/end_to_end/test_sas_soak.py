"""Two hosts poll one machine as often as in an hour, while it plays, prints, is killed and restarts.

The hosts do not wait between polls, so that an hour at 40 ms passes in minutes. While the machine runs, every poll is
answered and no meter falls; at the end, every host reads the journal's values at one entry. ``--sas-polls N``: at
least this many polls for each host (an hour at 40 ms: 90000), and until the machine has been killed as often as
required and has paid a ticket.
"""

import signal
import threading
import time
from dataclasses import dataclass, field

import pytest
from sas_cabin import PATIENCE, Cabin, wait_for

from meters import open_view
from tools.dev.host.messages import (
    SYNC_POLL,
    ReplyKind,
    decode_reply,
    encode_general_poll,
    encode_long_poll,
    is_complete_reply,
)

#: Meter code -> canonical meters whose sum it is, as we read table 1.9; one credit is one cent here.
MEANING = {
    0x00: ("coin_in",),
    0x05: ("games_played",),
    0x06: ("games_won",),
    0x07: ("games_lost",),
    0x0B: ("bill_in.value",),
    0x80: ("ticket_in.cashable.value",),
    0x86: ("ticket_out.cashable.value",),
    0x87: ("ticket_out.cashable.count",),
}
LIMIT_SECONDS = 0.02
"""The standard's limit for the first byte of an answer; what takes longer is counted as late."""
GENERAL = encode_general_poll(1)
METERS = encode_long_poll(1, 0x6F, {"game": 0, "codes": [{"code": code} for code in MEANING]})
CASH_OUT_EVERY = 3
"""Rounds of play between two cash-outs."""
OTHERS = [encode_long_poll(1, code) for code in (0x0F, 0x1C, 0x1A, 0x54, 0x55)]


@dataclass
class Tally:
    polls: int = 0
    exceptions: list = field(default_factory=list)
    meters: dict = field(default_factory=dict)
    faults: list = field(default_factory=list)
    slowest: float = 0.0
    late: int = 0


class Poller(threading.Thread):
    """A host that polls without a pause while the machine runs."""

    def __init__(self, cabin, name, poll_count, up, enough):
        super().__init__(daemon=True)
        self.tally = Tally()
        self._cabin, self._channel, self._wanted, self._up, self._check_shoe = (
            cabin,
            name,
            poll_count,
            up,
            enough,
        )
        self.resting = threading.Event()

    def _has_more(self):
        return self.tally.polls < self._wanted or not self._check_shoe.is_set()

    def run(self):
        try:
            while self._has_more() and not self.tally.faults:
                self._up.wait(PATIENCE)
                with self._cabin.line(self._channel, reply_timeout_seconds=PATIENCE) as line:
                    self._life(line)
        except Exception as error:  # noqa: BLE001 (passed to the test, which is on another thread)
            self.tally.faults.append(repr(error))

    def _life(self, line):
        """Poll during one run of the machine, until it ends or the number of polls is reached."""
        n = 0
        while self._has_more() and not self.tally.faults:
            if not self._up.is_set():
                self.resting.set()
                return
            n += 1
            request = GENERAL if n % 2 else METERS if n % 4 else OTHERS[n // 4 % len(OTHERS)]
            answer = decode_reply(
                request, line.exchange(request, lambda got, r=request: is_complete_reply(r, got))
            )
            if not self._up.is_set():
                continue  # it may have died under this very poll
            self.tally.polls += 1
            self.tally.slowest = max(self.tally.slowest, line.latency_seconds)
            self.tally.late += line.latency_seconds > LIMIT_SECONDS
            match answer.kind:
                case ReplyKind.EXCEPTION:
                    self.tally.exceptions.append(answer.code)
                    line.send(SYNC_POLL)
                case ReplyKind.DATA:
                    if request is METERS:
                        self._rises(answer.values["meters"])
                case ReplyKind.NOTHING_TO_REPORT:
                    pass
                case _:
                    self.tally.faults.append(
                        f"{request.hex()}: {answer.kind} {answer.data.hex()} {answer.error}"
                    )

    def _rises(self, rows):
        for row in rows:
            code, value = row["code"], row["value"]
            if value < self.tally.meters.get(code, 0):
                self.tally.faults.append(f"meter {code:02X} fell to {value}")
            self.tally.meters[code] = value


def play_until_polled(cabin, pollers):
    """Play, insert bills and cash out tickets until the hosts have polled often enough."""
    player = cabin.player
    round_ = 0
    while any(poller.is_alive() for poller in pollers):
        round_ += 1
        now = player.wait_until_shown(state="idle")
        if now.credit_cents < 200:
            cabin.insert_bill(2000)
        player.play_games(5)
        if round_ % CASH_OUT_EVERY == 0:
            player.wait_until_shown(state="idle")
            player.send_intent("cash_out")
            wait_for(
                lambda: player.snapshot and player.snapshot.credit_cents == 0, "the cash-out never ended"
            )
        yield round_


def run_soak(root, polls, deaths):
    channels = {"main": {}, "second": {"framing": "lenient"}}
    up, enough = threading.Event(), threading.Event()
    with Cabin(root, channels) as cabin:
        up.set()
        pollers = [Poller(cabin, name, polls, up, enough) for name in channels]
        for poller in pollers:
            poller.start()
        began, killed = time.monotonic(), 0
        for rounds in play_until_polled(cabin, pollers):
            if killed == deaths and rounds >= CASH_OUT_EVERY:
                enough.set()
            fewest_polls = min(poller.tally.polls for poller in pollers)
            if killed < deaths and fewest_polls > polls * (killed + 1) // (deaths + 1):
                up.clear()
                for poller in pollers:
                    wait_for(lambda p=poller: p.resting.is_set() or not p.is_alive())
                    poller.resting.clear()
                cabin.stop(signal.SIGKILL if killed % 2 == 0 else signal.SIGTERM)
                cabin.start()
                cabin.player.wait_until_shown(state="idle")
                up.set()
                killed += 1
        for poller in pollers:
            poller.join(PATIENCE)
        seconds = time.monotonic() - began
        cabin.player.wait_until_shown(state="idle")
        assert [poller.tally.faults for poller in pollers] == [[], []]
        assert killed == deaths
        check_readings_agree(cabin, channels)
        for poller in pollers:
            print(
                f"{poller.tally.polls} polls in {seconds:.0f} s, slowest {poller.tally.slowest * 1000:.1f} ms, {poller.tally.late} over 20 ms, {len(poller.tally.exceptions)} exceptions"
            )


def check_readings_agree(cabin, channels):
    """Check that every host of an idle machine reads the journal's values at one entry."""
    sequence, read, journal = wait_for(lambda: readings(cabin, channels), "the machine never came to rest")
    expected = {code: sum(journal[name] for name in names) for code, names in MEANING.items()}
    assert read == dict.fromkeys(channels, expected), sequence
    assert expected[0x05] > 0
    assert expected[0x87] > 0


def readings(cabin, channels):
    """Return the readings of hosts and journal, or None if an entry was recorded meanwhile."""
    with open_view(cabin.folder.root) as view:
        before = view.sequence
    read = {}
    for name in channels:
        with cabin.line(name) as line:
            line.exchange(GENERAL, bool)
            answer = decode_reply(METERS, line.exchange(METERS, lambda got: is_complete_reply(METERS, got)))
            read[name] = {row["code"]: row["value"] for row in answer.values["meters"]}
    with open_view(cabin.folder.root) as view:
        return (before, read, view.meters().values) if view.sequence == before else None


@pytest.mark.requirement("K-08", "K-14")
def test_two_hosts_poll_a_busy_machine(tmp_path, pytestconfig):
    run_soak(tmp_path, pytestconfig.getoption("--sas-polls"), deaths=2)


@pytest.mark.slow
def test_two_hosts_poll_for_an_hour(tmp_path):
    run_soak(tmp_path, 90_000, deaths=12)
