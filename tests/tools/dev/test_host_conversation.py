"""The host's half of the protocol: what it says next is its verdict on what it heard."""

import pytest

from egm.links.sas.crc import append_crc
from tools.dev.host.conversation import LINK_SECONDS, TRIES, Conversation, Order
from tools.dev.host.messages import SYNC, Outcome, general_poll, long_poll, parse

GENERAL = general_poll(1)
READ = long_poll(1, 0x1A)
CREDITS = append_crc(bytes.fromhex("011A00000500"))


class Talk:
    """A conversation whose time and answers the test decides."""

    def __init__(self):
        self.reports = []
        self.host = Conversation(1, self.reports.append)
        self.now = 0.0

    def says(self, expected, got=b""):
        """The host's next message is ``expected``; it is answered by ``got``."""
        message = self.host.next_message(self.now)
        assert message == expected
        self.host.answered(parse(message, got), self.now)

    def waits(self):
        assert self.host.next_message(self.now) is None
        self.now += self.host.due(self.now)


@pytest.fixture
def talk():
    talk = Talk()
    talk.says(SYNC)
    return talk


@pytest.fixture
def up(talk):
    talk.says(GENERAL, b"\x00")
    assert talk.host.is_up
    return talk


def test_it_begins_with_a_poll_to_somebody_else_and_keeps_its_pace(talk):
    talk.says(GENERAL, b"\x00")
    talk.waits()
    assert talk.now == pytest.approx(0.2)
    talk.says(GENERAL, b"\x00")
    talk.host.period_seconds = 0.04
    talk.waits()
    talk.says(GENERAL, b"\x00")
    talk.waits()
    assert talk.now == pytest.approx(0.44)


def test_an_exception_is_acknowledged_before_the_next_is_asked_for(up):
    up.waits()
    up.says(GENERAL, b"\x11")
    up.says(SYNC)
    up.waits()
    up.says(GENERAL, b"\x12")
    assert [report.code for report in up.reports] == [0x11, 0x12]


def test_an_exception_that_was_not_heard_is_asked_for_again_and_heard_once(up):
    up.waits()
    up.says(GENERAL, b"")  # lost: no acknowledgement may follow
    up.waits()
    up.says(GENERAL, b"\x11")
    up.says(SYNC)
    assert [report.code for report in up.reports] == [0x11]


def test_a_damaged_frame_is_asked_for_again_at_once_without_acknowledgement(up):
    event = append_crc(bytes.fromhex("01FF11"))
    up.waits()
    up.says(GENERAL, event[:-1] + b"\x00")
    up.says(GENERAL, event)
    up.says(SYNC)
    assert [(r.outcome, r.code) for r in up.reports] == [(Outcome.EVENT, 0x11)]


def test_a_poll_is_asked_again_unchanged_until_it_is_answered(up):
    answers = []
    up.host.submit(Order(READ, answers.append))
    up.says(READ, b"")
    up.says(READ, CREDITS[:-1] + b"\x00")
    up.says(READ, CREDITS)
    up.says(SYNC)  # what it carried may be handed out once only
    assert [answer.values for answer in answers] == [{"value": 500}]


def test_a_poll_nobody_answers_is_given_up_after_all_tries(up):
    answers = []
    up.host.submit(Order(READ, answers.append))
    for _ in range(TRIES):
        up.says(READ, b"")
    assert [answer.outcome for answer in answers] == [Outcome.SILENCE]
    assert up.host.idle


def test_an_event_in_place_of_the_answer_is_heard_and_the_poll_is_asked_again(up):
    answers = []
    up.host.submit(Order(READ, answers.append))
    up.says(READ, append_crc(bytes.fromhex("01FF11")))
    up.says(SYNC)
    up.says(READ, CREDITS)
    assert [report.code for report in up.reports] == [0x11]
    assert answers[0].values == {"value": 500}


def test_a_busy_machine_is_asked_later(up):
    answers = []
    up.host.submit(Order(READ, answers.append))
    up.says(READ, b"\x01\x00")
    up.says(SYNC)
    up.waits()
    up.says(GENERAL, b"\x00")
    up.says(READ, CREDITS)
    assert len(answers) == 1


def test_the_machine_is_heard_even_when_there_is_much_to_ask(up):
    for _ in range(3):
        up.host.submit(Order(READ))
    up.says(READ, CREDITS)
    up.says(SYNC)
    up.now += 0.2
    up.says(GENERAL, b"\x00")
    up.says(READ, CREDITS)


def test_a_control_poll_is_over_with_its_acknowledgement(up):
    answers = []
    up.host.submit(Order(long_poll(1, 0x01), answers.append))
    up.says(long_poll(1, 0x01), b"\x01")
    up.host.submit(Order(long_poll(1, 0x01), answers.append))
    up.says(long_poll(1, 0x01), b"\x81")
    assert [answer.outcome for answer in answers] == [Outcome.ACK, Outcome.NACK]


def test_a_broadcast_is_over_when_it_is_sent(up):
    answers = []
    clock = long_poll(0, 0x7F, {"date": "11212026", "time": "063000"})
    up.host.submit(Order(clock, answers.append))
    up.says(clock)
    assert len(answers) == 1
    assert up.host.idle


def test_the_link_goes_down_after_five_silent_seconds_and_orders_wait(up):
    answers = []
    while up.host.is_up:
        if up.host.next_message(up.now) is not None:
            up.host.answered(parse(GENERAL, b""), up.now)
        up.now += 0.2
        assert up.now < LINK_SECONDS + 1
    up.host.submit(Order(READ, answers.append))
    for _ in range(10):
        message = up.host.next_message(up.now)
        assert message in (None, SYNC, GENERAL)
        if message == GENERAL:
            up.host.answered(parse(GENERAL, b""), up.now)
        up.now += 0.1
    up.now += 1
    up.says(GENERAL, b"\x00")
    up.says(READ, CREDITS)
    assert len(answers) == 1


def test_whoever_asked_hears_that_the_link_went_down_under_the_poll(up):
    answers = []
    up.host.submit(Order(READ, answers.append, tries=1000))
    up.says(READ, b"")
    up.now += LINK_SECONDS
    up.host.next_message(up.now)
    assert [answer.outcome for answer in answers] == [Outcome.SILENCE]
