"""Table-driven cyclic redundancy checks: KERMIT for ID-003, SAS and the I/O board, MODBUS for GAT.

CRC-16/KERMIT: polynomial 0x1021 reflected, initial value 0; its check value over ``b"123456789"`` is 0x2189.
CRC-16/MODBUS: polynomial 0x8005 reflected, initial value 0xFFFF; its check value is 0x4B37. (RevEng catalogue
of parametrised CRC algorithms.) KERMIT is sent low byte first, MODBUS in GAT high byte first.
"""

from typing import Final

#: The CRC of every byte value.
CrcTable = tuple[int, ...]


def _build_crc_table(polynomial: int) -> CrcTable:
    """Return the table of a reflected CRC-16 with this polynomial."""

    def compute_byte_crc(value: int) -> int:
        """Return the CRC of one byte value."""
        for _ in range(8):
            value = (value >> 1) ^ polynomial if value & 1 else value >> 1
        return value

    return tuple(compute_byte_crc(value) for value in range(256))


#: Table of the polynomial 0x1021, reflected.
_KERMIT_TABLE: Final = _build_crc_table(0x8408)
#: Table of the polynomial 0x8005, reflected.
_MODBUS_TABLE: Final = _build_crc_table(0xA001)


def _update_crc(table: CrcTable, crc: int, data: bytes) -> int:
    """Return the CRC of all data up to and including ``data``; ``crc`` is the CRC before ``data``."""
    for byte in data:
        crc = (crc >> 8) ^ table[(crc ^ byte) & 0xFF]
    return crc


def compute_crc_kermit(data: bytes) -> int:
    """Return CRC-16/KERMIT of ``data``."""
    return _update_crc(_KERMIT_TABLE, 0, data)


def compute_crc_modbus(data: bytes) -> int:
    """Return CRC-16/MODBUS of ``data``."""
    return _update_crc(_MODBUS_TABLE, 0xFFFF, data)
