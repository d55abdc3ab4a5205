"""SAS checksum: CRC-16/KERMIT over every byte from the address on, low byte first."""

from typing import Final

from egm.devices.crc import compute_crc_kermit

#: Size of a CRC, in bytes.
CRC_SIZE_BYTES: Final = 2


def append_crc(body: bytes) -> bytes:
    """Return ``body`` followed by its CRC."""
    return body + compute_crc_kermit(body).to_bytes(CRC_SIZE_BYTES, "little")


def has_valid_crc(frame: bytes) -> bool:
    """Return whether the last two bytes of ``frame`` are the CRC of the bytes before them."""
    return len(frame) > CRC_SIZE_BYTES and append_crc(frame[:-CRC_SIZE_BYTES]) == frame
