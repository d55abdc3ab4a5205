"""Polls of tickets and transfers with arbitrary content and a valid checksum raise nothing and move no money.

A valid order would move money; therefore the orders here contain another machine's number, and the tickets a number
that is not in escrow.
"""

import random

import pytest

from egm.config.cabinet_file import TicketValidator
from egm.links.sas.crc import append_crc
from egm.links.sas.request_sizes import find_frame_size
from egm.money.host_money import HostMoney
from egm.testing.machine import MachineRig
from egm.testing.sas import SasHostBench

OWN_LENGTH = (0x71, 0x72, 0x73, 0x7B, 0x7C, 0x7D)
FIXED = {0x4C: 6, 0x4D: 1, 0x50: 1, 0x58: 9, 0x74: 4}


def content(dice: random.Random, code: int) -> bytes:
    """Return the data of a poll: often short, often of equal bytes, often almost valid."""
    size = FIXED[code] if code in FIXED else dice.choice((0, 1, 2, 3, 8, 15, 16, 22, 29, 50, 51, 70, 255))
    fill = dice.choice((b"\0", b"\xff", b"\x01", b"\x80", b""))
    data = (fill * size)[:size].ljust(size, b"\x12") if fill else dice.randbytes(size)
    if size and dice.random() < 0.5:
        offset = dice.randrange(size)
        data = data[:offset] + dice.randbytes(1) + data[offset + 1 :]
    return data if code in FIXED else bytes((size,)) + data


@pytest.mark.requirement("K-06")
@pytest.mark.parametrize("validation", [TicketValidator.SYSTEM, TicketValidator.SECURE_ENHANCED])
@pytest.mark.parametrize("seed", range(3))
def test_any_content_gets_a_valid_reply_or_none(tmp_path, validation, seed):
    dice = random.Random(f"{seed} {validation}")
    host = HostMoney(
        ticket_validator=validation,
        can_transfer=True,
        can_award_bonuses=True,
        asset_number=0x77665544,
        money_line_name="main",
    )
    rig = MachineRig(tmp_path, devices=("printer",), host=host)
    bench = SasHostBench(tmp_path, rig)
    rig.insert(2000)
    for _ in range(1500):
        code = dice.choice((*OWN_LENGTH, *FIXED))
        data = content(dice, code)
        message = append_crc(bytes((1, code)) + data)
        assert find_frame_size(message) == len(message)
        answer = bench.send(message)
        assert answer == b"" or answer[:2] == bytes((1, code))
        assert len(bench.read(0x1A)) == 8, "the next poll is answered"
    rig.journal.self_audit()
    moved = rig.journal.meters().values
    assert (moved["money_in"], moved["money_out"], rig.credit_cents) == (2000, 0, 2000)
    rig.close()
