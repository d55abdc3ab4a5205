"""The cyclic redundancy checks of the serial protocols, by table.

Both are CRC-16 with polynomial 0x1021. Check values over ``b"123456789"``: KERMIT (reflected) 0x2189,
XMODEM 0x31C3 (RevEng catalogue of parametrised CRC algorithms).
"""

from typing import Final


def _kermit_row(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ 0x8408 if value & 1 else value >> 1
    return value


def _xmodem_row(value: int) -> int:
    value <<= 8
    for _ in range(8):
        value = (value << 1) ^ 0x1021 if value & 0x8000 else value << 1
    return value & 0xFFFF


_KERMIT: Final = tuple(_kermit_row(value) for value in range(256))
_XMODEM: Final = tuple(_xmodem_row(value) for value in range(256))


def kermit(data: bytes) -> int:
    """CRC-16/KERMIT of ``data``: ID-003, SAS and the I/O board send it low byte first."""
    crc = 0
    for byte in data:
        crc = (crc >> 8) ^ _KERMIT[(crc ^ byte) & 0xFF]
    return crc


def xmodem(data: bytes) -> int:
    """CRC-16/XMODEM of ``data``: ccTalk's optional check."""
    crc = 0
    for byte in data:
        crc = ((crc << 8) & 0xFFFF) ^ _XMODEM[(crc >> 8) ^ byte]
    return crc
