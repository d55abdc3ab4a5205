"""The cyclic redundancy check of ID-003, of SAS and of the I/O board, by table.

CRC-16/KERMIT: polynomial 0x1021 reflected, initial value 0; its check value over ``b"123456789"`` is 0x2189
(RevEng catalogue of parametrised CRC algorithms). It travels low byte first.
"""

from typing import Final


def _row(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ 0x8408 if value & 1 else value >> 1
    return value


_TABLE: Final = tuple(_row(value) for value in range(256))


def kermit(data: bytes) -> int:
    """CRC-16/KERMIT of ``data``."""
    crc = 0
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc
