"""Stored form of a journal entry: its bytes, compressed without loss.

A body (canonical JSON) has over a thousand bytes per game, mostly words that occur in every entry. The stored
form is the previous entry's hash in binary, followed by the body without that hash, deflated (RFC 1951) with a
preset dictionary. Hashes, MACs and signatures cover the body, never the stored form, so other forms can be
added. The first byte tells the forms apart:

    1  previous hash 32 | deflated with bodies-1.txt: the body with an empty previous hash
    {  the body itself (in journals started before packing, and for a body from which the previous hash cannot be
       removed reversibly)

The preset dictionary ``bodies-1.txt`` contains entries as the cabinet writes them, without hashes; games of the
library are at its end. It must never change. A better dictionary is a new form with a new number.
"""

import zlib
from functools import lru_cache
from pathlib import Path
from typing import Final

from meters.entry import BODY_BYTES_MAX

#: First byte of a packed body.
_PACKED_BODY_MARK: Final = b"\x01"
#: First byte of a body that is stored unpacked.
_PLAIN_BODY_MARK: Final = b"{"
#: Bytes of a hash in binary.
_HASH_SIZE_BYTES: Final = 32
#: Form of a body's member with the previous hash.
_MEMBER_WITH_HASH: Final = b'"previous":"%s"'
#: The member of a body with the previous hash after that hash was removed.
_MEMBER_WITHOUT_HASH: Final = b'"previous":""'
#: The window size argument of zlib for deflate without header and checksum; entries are verified by hash instead.
_RAW_DEFLATE_WINDOW: Final = -15
#: The compression level of zlib.
_COMPRESSION_LEVEL: Final = 9
#: The preset dictionary.
_PRESET_DICTIONARY: Final = Path(__file__).with_name("bodies-1.txt").read_bytes()
#: Compressor prepared with the preset dictionary; a copy of it compresses each entry body.
_deflater: Final = zlib.compressobj(
    _COMPRESSION_LEVEL,
    zlib.DEFLATED,
    _RAW_DEFLATE_WINDOW,
    zlib.DEF_MEM_LEVEL,
    zlib.Z_DEFAULT_STRATEGY,
    _PRESET_DICTIONARY,
)


def remove_previous_hash(body: bytes, previous_hex: str) -> bytes | None:
    """Return an entry's bytes with an empty text in place of the previous entry's hash.

    Return None if :func:`restore_previous_hash` would not give the same bytes again.
    """
    head, hash_text, tail = body.partition(_MEMBER_WITH_HASH % previous_hex.encode())
    return None if not hash_text or _MEMBER_WITHOUT_HASH in head else head + _MEMBER_WITHOUT_HASH + tail


def restore_previous_hash(body_without_hash: bytes, previous_hex: str) -> bytes:
    """Return an entry's bytes with the previous entry's hash inserted again.

    ``body_without_hash`` are the bytes from which :func:`remove_previous_hash` removed it.
    """
    return body_without_hash.replace(_MEMBER_WITHOUT_HASH, _MEMBER_WITH_HASH % previous_hex.encode(), 1)


def deflate(data: bytes) -> bytes:
    """Return the bytes of journal entries compressed (deflated) with the preset dictionary."""
    deflater = _deflater.copy()
    return deflater.compress(data) + deflater.flush()


def inflate(data: bytes, bytes_max: int) -> bytes:
    """Return the bytes of journal entries from their compressed (deflated) form.

    Raises ``ValueError`` if the data is incomplete or the result is longer than ``bytes_max``.
    """
    inflater = zlib.decompressobj(_RAW_DEFLATE_WINDOW, _PRESET_DICTIONARY)
    try:
        inflated = inflater.decompress(data, bytes_max)
    except zlib.error as error:
        raise ValueError(f"the compressed data is damaged ({error})") from error
    if not inflater.eof or inflater.unused_data:
        raise ValueError("the compressed data is damaged (it does not end where it should)")
    return inflated


@lru_cache(maxsize=1)
def pack_entry(body: bytes, previous_hex: str) -> bytes:
    """Return the stored (compressed) form of an entry's bytes ``body``; ``previous_hex`` is the previous entry's hash.

    The result is cached, because the two copies of the journal request it for the same body, one after the
    other.
    """
    short_body = remove_previous_hash(body, previous_hex)
    if short_body is None:
        return body
    return _PACKED_BODY_MARK + bytes.fromhex(previous_hex) + deflate(short_body)


def unpack_entry(packed_entry: bytes) -> bytes:
    """Return an entry's bytes from their stored form. Raises ``ValueError`` if the stored form is not valid."""
    format_byte = packed_entry[:1]
    if format_byte == _PLAIN_BODY_MARK:
        return packed_entry
    start = len(_PACKED_BODY_MARK) + _HASH_SIZE_BYTES
    if format_byte != _PACKED_BODY_MARK or len(packed_entry) < start:
        raise ValueError(f"it is stored in a form that this program cannot read ({format_byte!r})")
    return restore_previous_hash(
        inflate(packed_entry[start:], BODY_BYTES_MAX), packed_entry[len(_PACKED_BODY_MARK) : start].hex()
    )
