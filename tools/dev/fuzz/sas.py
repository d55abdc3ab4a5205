"""An atheris target for a SAS line: after any bytes, the machine must reply to the next poll.

Run it with ``pip install 'open-egm[fuzz]'`` and ``python -m tools.dev.fuzz.sas [libFuzzer options]``. The first byte of
an input chooses framing and features, the second how many bytes are read at once; the others are what the line
receives. Commands are not carried out; the target replies to them at random as busy, refused or done.
"""

import sys
from datetime import UTC, datetime
from typing import Final

from egm.config.sas_line import SasPollGroup
from egm.links.sas.channel import RunPollEffect, SasChannelState, SendBytes
from egm.links.sas.codec import ACK
from egm.links.sas.exception_queue import SasException
from egm.links.sas.polls import find_available_polls
from egm.links.sas.readout import GameReadout, HandpayReadout, HopperReadout, SasReadout
from egm.links.sas.tables.exceptions import EXCEPTION_DEFINITION_BY_CODE
from egm.links.sas.wire import LenientFraming, WakeupBitFraming, escape_message_with_wakeup
from meters import MeterReading

MACHINE_ADDRESS: Final = 1
_PAUSE_NS: Final = 5_000_000
_STEP_NS: Final = 1_000_000
_AVAILABLE_POLLS: Final = find_available_polls(frozenset(SasPollGroup))
_EXCEPTION_CODES: Final = sorted(set(EXCEPTION_DEFINITION_BY_CODE) - {0})
_CREDITS_POLL: Final = bytes((MACHINE_ADDRESS, 0x1A))


class WrongReplyError(AssertionError):
    """Raised if a poll after random bytes did not get the right reply."""


def build_readout() -> SasReadout:
    """Return the data of a machine with one game and at least one value of each kind."""
    game = GameReadout(
        game_number=1,
        id="game",
        title="Game",
        version="1",
        digest="0" * 64,
        denominations_cents=(1, 5),
        bet_max_credits=10,
        return_hundredths=9000,
    )
    return SasReadout(
        meter_reading=MeterReading(1, "", ()),
        serial="FUZZ",
        currency="USD",
        accounting_denomination_cents=1,
        games=(game,),
        selected_game_number=1,
        player_denomination_cents=1,
        handpay=HandpayReadout("handpay-1", "jackpot", 100),
        hopper=HopperReadout(10, ("hopper.jam",)),
        payout_coin_cents=100,
        last_bill_cents=500,
        last_ticket_cents=700,
        stacker_bill_count=1,
        stacker_cents=500,
        reel_stops=(1, 2, 3),
        read_local_time=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        permitted_poll_codes=frozenset(_AVAILABLE_POLLS),
    )


class _Machine:
    """The machine's end of one SAS line: framing and channel, as in :class:`~egm.links.sas.line.SasLineThread`."""

    def __init__(self, choices: int) -> None:
        self.strict = bool(choices & 1)
        self.channel = SasChannelState(MACHINE_ADDRESS, _AVAILABLE_POLLS)
        self.channel.readout = build_readout()
        self.channel.is_real_time_reporting_on = bool(choices & 2)
        framing = WakeupBitFraming if self.strict else LenientFraming
        self._framing = framing(MACHINE_ADDRESS, _PAUSE_NS)
        self._answer = choices >> 2
        self.now_ns = 0

    def receive(self, data: bytes) -> bytes:
        """Return the reply to ``data``."""
        reply = b""
        self.now_ns += _STEP_NS
        for message in self._framing.decode(data, self.now_ns):
            for action in self.channel.process_message(message, self.now_ns):
                if isinstance(action, RunPollEffect):
                    self._answer = self._answer * 5 + 1
                    replies = (
                        self.channel.send_busy_reply(action.request),
                        self.channel.reply_to_request(action.poll, action.request, None),
                        self.channel.reply_to_request(action.poll, action.request, ACK),
                    )
                    reply += b"".join(
                        reply_action.data
                        for reply_action in replies[self._answer % 3]
                        if isinstance(reply_action, SendBytes)
                    )
                elif isinstance(action, SendBytes):
                    reply += action.data
        return reply

    def pause(self) -> None:
        """Simulate a pause between two messages."""
        self.now_ns += 2 * _PAUSE_NS


def run_fuzz_input(data: bytes) -> None:
    """Feed one fuzzer input to the line; raise an error if a poll after it does not get the right reply.

    Any exception of the line is an error too.
    """
    if len(data) < 2:
        return
    machine = _Machine(data[0])
    step, noise = data[1] % 16 + 1, data[2:]
    for offset in range(0, len(noise), step):
        machine.receive(noise[offset : offset + step])
        if noise[offset] % 8 == 0:
            list(
                machine.channel.post_exception(
                    SasException(_EXCEPTION_CODES[noise[offset] % len(_EXCEPTION_CODES)]), machine.now_ns
                )
            )
        if noise[offset] % 16 == 1:
            machine.pause()
    machine.pause()
    machine.channel.is_real_time_reporting_on = False
    _send_in_parts(machine, b"\x80", 0)
    answer = _send_in_parts(machine, _CREDITS_POLL, 8)
    if answer[:2] != _CREDITS_POLL:
        raise WrongReplyError(f"poll 1A answered {answer.hex(' ')}")
    _send_in_parts(machine, b"\x81", 1)


def _send_in_parts(machine: _Machine, message: bytes, size: int) -> bytes:
    answer = machine.receive(escape_message_with_wakeup(message) if machine.strict else message)
    if len(answer) != size:
        raise WrongReplyError(f"{message.hex(' ')} was answered {answer.hex(' ') or 'by silence'}")
    return answer


def main() -> None:
    """Fuzz until stopped."""
    import atheris  # noqa: PLC0415 (an optional package that nothing else needs)

    atheris.instrument_all()
    atheris.Setup(sys.argv, run_fuzz_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
