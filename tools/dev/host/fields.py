"""Declare the layouts of message data, for reading and for writing.

A field that is too short or contains an invalid digit raises an error that names the field.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeAlias


class LayoutError(ValueError):
    """Raised if bytes do not match a layout, or a value does not fit its field; the text names the field."""


class FieldKind(Enum):
    """How the bytes of a field are interpreted."""

    BCD = auto()
    """Packed decimal digits, the most significant first."""
    BINARY = auto()
    """An unsigned number, the least significant byte first."""
    TEXT = auto()
    """ASCII."""
    DIGITS = auto()
    """Packed decimal digits read as text: leading zeros are part of a validation number."""
    RAW = auto()
    """Bytes without further meaning, as hexadecimal text."""


@dataclass(frozen=True, slots=True)
class Field:
    """A named field of ``size_bytes`` bytes."""

    name: str
    size_bytes: int
    kind: FieldKind = FieldKind.BCD


@dataclass(frozen=True, slots=True)
class LengthPrefixedField:
    """A field of variable size: a length byte, then that many bytes of ``kind``.

    A BCD value of zero bytes is None.
    """

    name: str
    kind: FieldKind = FieldKind.TEXT


@dataclass(frozen=True, slots=True)
class RemainingBytesField:
    """A field that takes all remaining bytes of the message."""

    name: str
    kind: FieldKind = FieldKind.RAW


@dataclass(frozen=True, slots=True)
class LengthPrefixedGroup:
    """A length byte, then that many bytes with the fields ``parts``; the last of these may be absent."""

    parts: "tuple[Field | LengthPrefixedField | RemainingBytesField | RepeatedGroup | ValueSizedByCode, ...]"


@dataclass(frozen=True, slots=True)
class RepeatedGroup:
    """The fields ``parts``, repeated.

    ``count_field`` is the name of an earlier field with the number of repetitions; if it is empty, the fields repeat to
    the end of the message.
    """

    name: str
    parts: "Layout"
    count_field: str = ""


@dataclass(frozen=True, slots=True)
class ValueSizedByCode:
    """A BCD value whose size depends on the code in an earlier field of the message.

    ``code_field`` is the name of that field; ``sizes`` has the size in bytes by code. For an unknown code, the value
    has no bytes.
    """

    name: str
    code_field: str
    sizes: Mapping[int, int]


LayoutPart: TypeAlias = (
    Field | LengthPrefixedField | RemainingBytesField | LengthPrefixedGroup | RepeatedGroup | ValueSizedByCode
)
Layout: TypeAlias = tuple[LayoutPart, ...]
Values: TypeAlias = dict[str, Any]

_LENGTH_FIELD: Final = Field("length", 1, FieldKind.BINARY)


class _MessageReader:
    """A reader of the bytes of one message, in order."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def take(self, name: str, size: int) -> bytes:
        if len(self.data) < size:
            raise LayoutError(f"{name}: cut short")
        field_data, self.data = self.data[:size], self.data[size:]
        return field_data

    def read_field(self, field: Field) -> int | str:
        return _decode_value(field, self.take(field.name, field.size_bytes))

    def read_part(self, part: LayoutPart, values: Values) -> None:
        match part:
            case Field():
                values[part.name] = self.read_field(part)
            case LengthPrefixedField(name, kind):
                size = self.take(name, 1)[0]
                has_value = size or kind is not FieldKind.BCD
                values[name] = self.read_field(Field(name, size, kind)) if has_value else None
            case RemainingBytesField(name, kind):
                values[name] = self.read_field(Field(name, len(self.data), kind))
            case ValueSizedByCode(name, code_field, sizes):
                values[name] = self.read_field(Field(name, sizes.get(values[code_field], 0)))
            case RepeatedGroup(name, parts, count_field):
                values[name] = self.read_rows(parts, values[count_field] if count_field else None)
            case LengthPrefixedGroup(parts):
                inner_reader = _MessageReader(self.take("data", self.take("length", 1)[0]))
                for inner_part in parts:
                    if inner_reader.data:
                        inner_reader.read_part(inner_part, values)
                inner_reader.check_end()

    def read_rows(self, parts: Layout, count: int | None) -> list[Values]:
        rows: list[Values] = []
        while self.data if count is None else len(rows) < count:
            row: Values = {}
            for part in parts:
                self.read_part(part, row)
            rows.append(row)
        return rows

    def check_end(self) -> None:
        if self.data:
            raise LayoutError(f"surplus: {self.data.hex(' ')}")


def decode_layout(layout: Layout, data: bytes) -> Values:
    """Return the values of the fields by name. Raises :class:`LayoutError` if ``data`` does not match the layout."""
    reader = _MessageReader(data)
    values: Values = {}
    for part in layout:
        reader.read_part(part, values)
    reader.check_end()
    return values


def _decode_value(field: Field, data: bytes) -> int | str:
    match field.kind:
        case FieldKind.BINARY:
            return int.from_bytes(data, "little")
        case FieldKind.TEXT:
            if not data.isascii():
                raise LayoutError(f"{field.name}: not ASCII")
            return data.decode("ascii")
        case FieldKind.RAW:
            return data.hex()
        case FieldKind.BCD | FieldKind.DIGITS:
            digits = data.hex()
            if data and not digits.isdigit():
                raise LayoutError(f"{field.name}: not decimal digits")
            return digits if field.kind is FieldKind.DIGITS else int(digits or "0")


def encode_layout(layout: Layout, values: Mapping[str, Any]) -> bytes:
    """Return ``values`` (by field name) as bytes.

    A :class:`LengthPrefixedGroup` part ends before its first field without a value.

    Raises :class:`LayoutError` if a value is missing or does not fit.
    """
    return b"".join(_encode_part(part, values) for part in layout)


def _encode_part(part: LayoutPart, values: Mapping[str, Any]) -> bytes:
    if isinstance(part, LengthPrefixedGroup):
        has_value_by_part = [inner.name in values for inner in part.parts]
        end = has_value_by_part.index(False) if False in has_value_by_part else len(has_value_by_part)
        if any(has_value_by_part[end:]):
            raise LayoutError(f"{part.parts[end].name}: no value given, but a later part has one")
        return _prefix_length(encode_layout(part.parts[:end], values), "length")
    if part.name not in values:
        raise LayoutError(f"{part.name}: no value given")
    value = values[part.name]
    match part:
        case Field():
            return _encode_value(part, value)
        case LengthPrefixedField(name, kind):
            return _prefix_length(_encode_value(Field(name, 0, kind), value), name)
        case RemainingBytesField(name, kind):
            return _encode_value(Field(name, 0, kind), value)
        case ValueSizedByCode(name, code_field, sizes):
            return _encode_value(Field(name, sizes.get(values[code_field], 0)), value)
        case RepeatedGroup(_, parts):
            return b"".join(encode_layout(parts, row) for row in value)


def _prefix_length(body: bytes, name: str) -> bytes:
    if len(body) > 0xFF:
        raise LayoutError(f"{name}: {len(body)} bytes do not fit behind a length byte")
    return _encode_value(_LENGTH_FIELD, len(body)) + body


def _encode_value(field: Field, value: Any) -> bytes:
    """Return one value as bytes. A field size of 0 means as many bytes as the value needs."""
    try:
        match field.kind:
            case FieldKind.BINARY:
                data = int(value).to_bytes(field.size_bytes, "little")
            case FieldKind.TEXT:
                data = str(value).encode("ascii")
            case FieldKind.RAW:
                data = bytes.fromhex(value)
            case FieldKind.BCD | FieldKind.DIGITS:
                digits = str(value).zfill(2 * field.size_bytes)
                data = bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))
                if not digits.isdigit():
                    raise LayoutError(f"{field.name}: {value!r}: not decimal digits")
    except (ValueError, TypeError, OverflowError) as error:
        raise LayoutError(f"{field.name}: {value!r}: {error}") from error
    if field.size_bytes and len(data) != field.size_bytes:
        raise LayoutError(f"{field.name}: {value!r} takes {len(data)} bytes, not {field.size_bytes}")
    return data


def compute_fixed_size(layout: Layout) -> int | None:
    """Return the number of bytes that messages of this layout have, or None if it varies."""
    if all(isinstance(part, Field) for part in layout):
        return sum(part.size_bytes for part in layout if isinstance(part, Field))
    return None
