"""The host's end of a SAS line: framing on each kind of line, and detection of a complete reply."""

import os
import pty
import threading
import tty

import pytest

from tools.dev.host.line import HostLine, HostLineError, WakeupEncoding, mark_wakeup


@pytest.fixture
def ends():
    """A pseudo-terminal: the descriptor of one end, and the name of the other."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    yield ours, os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def test_wakeup_bytes_are_marked_as_a_parity_marking_uart_does():
    assert mark_wakeup(b"\x81") == b"\xff\x00\x81"
    assert mark_wakeup(b"\x01\x72\x02\xff\x00") == b"\xff\x00\x01\x72\x02\xff\xff\x00"


@pytest.mark.parametrize(
    ("wire", "sent"),
    [(WakeupEncoding.PLAIN, b"\x01\x71\xff"), (WakeupEncoding.MARKED, b"\xff\x00\x01\x71\xff\xff")],
)
def test_a_message_is_framed_for_plain_and_marked_lines(ends, wire, sent):
    ours, name = ends
    line = HostLine(name, wire)
    line.send(b"\x01\x71\xff")
    assert os.read(ours, 100) == sent
    line.close()


def test_a_reply_ends_when_it_is_complete_or_after_a_gap(ends):
    ours, name = ends
    line = HostLine(name, WakeupEncoding.PLAIN, reply_timeout_seconds=5.0, gap_seconds=0.05)

    def machine():
        for answer in (b"\x01\x1a\x00", b"\x01"):
            os.read(ours, 100)
            os.write(ours, answer)

    thread = threading.Thread(target=machine)
    thread.start()
    assert line.exchange(b"\x01\x1a", lambda got: len(got) == 3) == b"\x01\x1a\x00"
    assert line.latency_seconds > 0
    assert line.exchange(b"\x01\x01", lambda _got: False) == b"\x01"
    thread.join()
    line.close()


def test_bytes_received_before_the_query_are_not_taken_for_its_reply(ends):
    ours, name = ends
    line = HostLine(name, WakeupEncoding.PLAIN, reply_timeout_seconds=0.02)
    os.write(ours, b"\x01\x01\x01")
    assert line.exchange(b"\x81", lambda _got: True) == b""
    line.close()


def test_a_port_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(HostLineError, match="nowhere"):
        HostLine(str(tmp_path / "nowhere"), WakeupEncoding.PLAIN)


def test_a_line_that_is_disconnected_raises_an_error():
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    line = HostLine(os.ttyname(theirs), WakeupEncoding.PLAIN, reply_timeout_seconds=1.0)
    os.close(theirs)
    os.close(ours)
    with pytest.raises(HostLineError, match="cannot be"):
        line.exchange(b"\x81", lambda _got: True)
    line.close()
