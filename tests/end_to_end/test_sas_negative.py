"""Invalid messages of a host: the machine does not reply, changes nothing, and answers the next valid poll.

Every byte is written by hand; the test shares only the checksum with the machine.
"""

import random

import pytest
from sas_cabin import QUIET_SECONDS, Cabin

from egm.links.sas.crc import append_crc
from tools.dev.host.messages import is_complete_reply

GENERAL, SYNC, VERSION = b"\x81", b"\x80", b"\x01\x54"
BUSY = b"\x01\x00"
HOST = '[host]\ntickets = "system"\ntransfers = true\nasset_number = 100\n'
#: A good order: five dollars to the machine, in house, under the identifier 77777777. It would be obeyed.
ORDER = append_crc(
    bytes.fromhex("01 72 3B 00 00 00 0000000500 0000000000 0000000000 00 64000000")
    + bytes(20)
    + b"\x0877777777"
    + bytes.fromhex("00000000 0000 00")
)


class Prober:
    """Sends arbitrary bytes and returns the reply."""

    def __init__(self, line):
        self.line = line

    def ask(self, message, size=None):
        """Send a message; return ``size`` bytes of the reply, or all bytes until the line is quiet."""
        if size is None:
            self.line.listen(0.0)
            self.line.send(message)
            return self.line.listen(QUIET_SECONDS)
        return self.line.exchange(message, lambda got: len(got) >= size)

    def sync(self):
        self.line.send(SYNC)
        self.line.listen(0.05)

    def version(self):
        return self.ask(VERSION, 12)

    def answers_next_poll(self):
        """Return whether a valid poll is answered after a pause, or a second one if the computer is busy."""
        for _ in range(40):
            self.line.listen(0.05)
            self.sync()
            if self.ask(VERSION)[:2] == VERSION:
                return True
        return False

    def drain(self):
        """Read every queued exception."""
        taken = []
        while (got := self.ask(GENERAL, 1)) != b"\x00":
            assert len(got) == 1
            taken.append(got[0])
            self.sync()
        return taken


@pytest.fixture(scope="module", params=["strict", "lenient"])
def cabin(request, tmp_path_factory):
    root = tmp_path_factory.mktemp(request.param)
    with Cabin(root, {"main": {"framing": request.param}}, HOST) as cabin:
        cabin.framing = request.param
        yield cabin


@pytest.fixture
def prober(cabin):
    with cabin.line() as line:
        prober = Prober(line)
        prober.sync()
        prober.drain()
        yield prober


@pytest.mark.requirement("K-06")
@pytest.mark.parametrize(
    "message",
    [
        b"\x01\x01" + bytes(2),
        append_crc(b"\x01\x01")[:-1] + b"\x09",
        bytes(reversed(append_crc(b"\x01\x01"))),
    ],
    ids=["zero", "one-bit", "backwards"],
)
def test_a_wrong_checksum_receives_no_reply_and_has_no_effect(cabin, prober, message):
    assert prober.ask(message) == b""
    assert cabin.player.snapshot.state == "idle"
    assert prober.answers_next_poll()


@pytest.mark.parametrize("code", [0x00, 0x1D, 0x6B, 0xFE])
def test_an_unknown_poll_receives_no_reply(prober, code):
    for message in (bytes((1, code)), append_crc(bytes((1, code)))):
        assert prober.ask(message) == b""
        prober.sync()
    assert prober.answers_next_poll()


def test_a_machine_does_not_reply_for_another_address(prober):
    assert prober.ask(b"\x82") == b""
    assert prober.ask(b"\x02\x54") == b""
    assert prober.ask(append_crc(b"\x02\x01")) == b""
    assert prober.answers_next_poll()


def test_a_broadcast_receives_no_reply(cabin, prober):
    assert prober.ask(SYNC) == b""
    assert prober.ask(append_crc(bytes.fromhex("00 7F 11212026 063000"))) == b""
    assert prober.answers_next_poll()


def test_an_exception_is_repeated_until_it_is_acknowledged(cabin, prober):
    cabin.operate("io", "door", name="main", open=True)
    cabin.player.wait_until_shown(open_doors=("main",))
    while (first := prober.ask(GENERAL, 1)) == b"\x00":
        prober.sync()
    assert [prober.ask(GENERAL, 1) for _ in range(3)] == [first] * 3  # the same poll again: the same answer
    prober.ask(b"\x02\x54")  # a poll to another address, which the machine receives
    cabin.operate("io", "door", name="main", open=False)
    cabin.player.wait_until_shown(open_doors=())
    exceptions = []
    while 0x12 not in exceptions:  # the screen may show it before the line reports it
        exceptions += prober.drain()
    assert first == b"\x11"
    assert 0x11 not in exceptions


def test_a_long_poll_acknowledges_an_exception(cabin, prober):
    cabin.operate("io", "door", name="main", open=True)
    cabin.player.wait_until_shown(open_doors=("main",))
    while (first := prober.ask(GENERAL, 1)) == b"\x00":
        prober.sync()
    assert prober.version()[:2] == VERSION
    assert prober.ask(GENERAL, 1) != first
    cabin.operate("io", "door", name="main", open=False)
    cabin.player.wait_until_shown(open_doors=())
    prober.sync()
    while 0x12 not in prober.drain():  # the screen may show it before the line reports it
        pass


@pytest.mark.sas(exceptions="70")
def test_the_host_is_notified_when_the_exception_queue_overflows(cabin, prober):
    for _ in range(15):
        cabin.operate("io", "door", name="main", open=True)
        cabin.player.wait_until_shown(open_doors=("main",))
        cabin.operate("io", "door", name="main", open=False)
        cabin.player.wait_until_shown(open_doors=())
    taken = prober.drain()
    doors = [code for code in taken if code in {0x11, 0x12}]
    assert 0x70 in taken
    # The line's thread may post the last of the 30 while the host already drains the 20 that fit.
    assert 19 <= len(doors) < 30


def test_a_wakeup_within_a_message_starts_a_new_one(cabin, prober):
    if cabin.framing == "lenient":
        pytest.skip("a line without the ninth bit has no wakeup")
    prober.line.send(append_crc(b"\x01\x01")[:3])  # cut short by:
    assert prober.version()[:2] == VERSION
    assert cabin.player.snapshot.state == "idle"


def test_a_pause_within_a_message_ends_it(tmp_path):
    with Cabin(tmp_path, {"main": {"gap_ms": 20}}) as cabin, cabin.line() as line:
        prober = Prober(line)
        prober.sync()
        prober.drain()
        message = append_crc(b"\x01\x01")
        line.send(message[:2])
        line.listen(QUIET_SECONDS)
        line.send(message[2:], wake=False)
        assert line.listen(QUIET_SECONDS) == b""
        assert cabin.player.snapshot.state == "idle"
        assert prober.answers_next_poll()


def fuzz(generator):
    """Return random bytes or a damaged message: cut off, doubled, one byte changed, valid checksum on nonsense."""
    if generator.random() < 0.3:  # an order for money, always spoilt
        good, spoil = ORDER, generator.choice((1, 2, 5))
    else:
        good = generator.choice(
            [
                append_crc(b"\x01\x01"),
                append_crc(b"\x01\x94"),
                append_crc(b"\x01\x71\x01\xff"),
                VERSION,
                GENERAL,
            ]
        )
        spoil = generator.randrange(6)
    data = bytearray(good)
    match spoil:
        case 0:
            return generator.randbytes(generator.randint(1, 40))
        case 1:
            del data[generator.randrange(len(data)) :]
        case 2:
            data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        case 3:
            data *= 2
        case 4:
            data = bytearray(append_crc(b"\x01" + generator.randbytes(generator.randint(1, 60))))
        case 5:
            data.insert(generator.randrange(len(data)), generator.randrange(256))
    return bytes(data)


def _is_answered(got):
    return got == BUSY or is_complete_reply(ORDER, got)


@pytest.mark.requirement("K-06")
def test_noise_neither_stops_the_machine_nor_moves_money_nor_blocks_the_next_poll(cabin, prober):
    generator = random.Random(7)
    cabin.insert_bill(500)
    for n in range(200):
        prober.line.send(fuzz(generator), wake=generator.random() < 0.5)
        if n % 10 == 9:
            assert prober.answers_next_poll(), n
    assert cabin.machine.poll() is None
    assert cabin.player.snapshot.credit_cents == 500
    prober.ask(append_crc(b"\x01\x02"))  # a good poll among the noise may have shut it down
    cabin.player.wait_until_shown(state="idle", credit_cents=500)
    while (answer := prober.line.exchange(ORDER, _is_answered)) == BUSY:  # a computer at its limit
        pass
    assert answer[:2] == ORDER[:2]  # unspoilt, it is obeyed
    cabin.player.wait_until_shown(credit_cents=1000)
