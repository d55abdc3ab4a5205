"""The tables of SAS names are complete and consistent with the published lists; and the CRC of a message."""

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from egm.app.features import FEATURES
from egm.links.sas.crc import append_crc, has_valid_crc
from egm.links.sas.definitions import PollType, SasMeterUnit
from egm.links.sas.journal_exceptions import list_raised_exceptions
from egm.links.sas.tables.denominations import BILL_MAJOR_UNITS_BY_CODE, DENOMINATION_CENTS_BY_CODE
from egm.links.sas.tables.exceptions import EXCEPTION_DEFINITION_BY_CODE
from egm.links.sas.tables.meters import METER_DEFINITION_BY_CODE
from egm.links.sas.tables.polls import POLL_BY_CODE, REGULATOR_MINIMUM_POLL_CODES

SEEN = Path(__file__).parents[2] / "vectors" / "sas_frames_seen.toml"
KNOWN_ANSWERS = tomllib.loads(SEEN.read_text(encoding="utf-8"))["frames"]


@pytest.mark.parametrize(("body", "crc"), KNOWN_ANSWERS.items())
def test_the_crc_matches_a_frame_recorded_on_a_real_link(body: str, crc: str) -> None:
    assert append_crc(bytes.fromhex(body)) == bytes.fromhex(body + crc)
    assert has_valid_crc(bytes.fromhex(body + crc))


@pytest.mark.requirement("K-06")
def test_one_flipped_bit_makes_the_crc_wrong() -> None:
    frame = append_crc(bytes.fromhex("01 2F 03 00 00 00"))
    for bit in range(len(frame) * 8):
        damaged = bytearray(frame)
        damaged[bit // 8] ^= 1 << bit % 8
        assert not has_valid_crc(bytes(damaged))


def test_polls_have_the_published_types() -> None:
    def codes(*types: PollType) -> set[int]:
        return {code for code, poll in POLL_BY_CODE.items() if poll.poll_type in types}

    assert codes(PollType.GAME) == set(
        bytes.fromhex("09 2D 2F 52 53 6F AF 83 8C 95 96 97 98 99 9A A0 A4 B4 B5")
    )
    assert codes(PollType.SET_OR_BROADCAST) == set(bytes.fromhex("75 7A 7B 7C 7D 7F 80 86"))
    assert set(POLL_BY_CODE) >= REGULATOR_MINIMUM_POLL_CODES
    assert len(REGULATOR_MINIMUM_POLL_CODES) == 40  # 29 of type R, 11 with data


def test_every_exception_the_journal_can_raise_has_a_name() -> None:
    assert list_raised_exceptions(FEATURES.entry_declarations) <= set(EXCEPTION_DEFINITION_BY_CODE)


def test_meters_cover_every_code_that_is_not_reserved() -> None:
    reserved = {*range(0x3A, 0x3E), *range(0x79, 0x7F), *range(0x94, 0xA0), *range(0xB2, 0xB8)}
    assert set(METER_DEFINITION_BY_CODE) == set(range(0xBE)) - reserved
    assert {code for code, meter in METER_DEFINITION_BY_CODE.items() if meter.byte_count == 5} == {
        code for code, meter in METER_DEFINITION_BY_CODE.items() if meter.unit is SasMeterUnit.CENTS
    }
    assert METER_DEFINITION_BY_CODE[0x57].name == "$1,000,000 bills accepted"
    assert METER_DEFINITION_BY_CODE[0x62].name == "$1,000 bills to the drop"


def test_denominations_and_bills_have_the_published_codes() -> None:
    cents = {0x01: 1, 0x09: 2000, 0x0A: 10000, 0x0D: 250, 0x16: 500000, 0x17: 2, 0x1A: 40}
    assert {code: DENOMINATION_CENTS_BY_CODE[code] for code in cents} == cents
    assert DENOMINATION_CENTS_BY_CODE[0x1F] == Fraction(1, 20)
    assert len(DENOMINATION_CENTS_BY_CODE) == 0x1F
    assert BILL_MAJOR_UNITS_BY_CODE[10] == 500
    assert BILL_MAJOR_UNITS_BY_CODE[23] == 1_000_000
