"""Layouts of the data bytes of messages: described once, and used for reading and for writing.

A layout is a tuple of parts. Reading gives every byte a name, so that a recording can be explained; writing
is its inverse. Nothing is guessed: a field that ends too soon or holds an invalid digit is reported as a
problem of that field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias


class LayoutError(ValueError):
    """A value does not fit the field it is written to: which field, which value, why."""


class Kind(StrEnum):
    """Meaning of the bytes of a field."""

    BCD = "bcd"
    """Packed decimal digits, the most significant first."""
    BINARY = "binary"
    """An unsigned number, the least significant byte first."""
    TEXT = "text"
    """ASCII."""
    DIGITS = "digits"
    """Packed decimal digits kept as text: leading zeros are part of a validation number."""
    RAW = "raw"
    """Bytes without further meaning, as hexadecimal text."""


@dataclass(frozen=True, slots=True)
class Field:
    """``size`` bytes under a name; ``names`` says what values mean, ``bits`` what set bits mean."""

    name: str
    size: int
    kind: Kind = Kind.BCD
    unit: str = ""
    names: Mapping[int, str] | None = None
    bits: Mapping[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """A length byte followed by that many bytes of ``kind``; a BCD value of zero bytes is None."""

    name: str
    kind: Kind = Kind.TEXT
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Rest:
    """All remaining bytes."""

    name: str
    kind: Kind = Kind.RAW


@dataclass(frozen=True, slots=True)
class Sized:
    """A length byte, then that many bytes holding ``parts``; trailing parts may be absent."""

    parts: "tuple[Field | Counted | Rest | Many | Sizes, ...]"


@dataclass(frozen=True, slots=True)
class Many:
    """``parts`` again and again, ``count`` times (a field read before), or to the end where none is named."""

    name: str
    parts: "Layout"
    count: str = ""


@dataclass(frozen=True, slots=True)
class Sizes:
    """One BCD value after a one-byte code whose size is in a table (a code that is not there ends it)."""

    name: str
    code: str
    sizes: Mapping[int, int]


Part: TypeAlias = Field | Counted | Rest | Sized | Many | Sizes
Layout: TypeAlias = tuple[Part, ...]
Values: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of a message and what they say. ``at`` counts from the message's first byte."""

    name: str
    at: int
    data: bytes
    value: int | str
    text: str
    trouble: str = ""


@dataclass(slots=True)
class Reading:
    """Result of reading a layout: the pieces in wire order, the values by name, and the problems."""

    values: Values = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)

    @property
    def trouble(self) -> str:
        """The first thing wrong, or nothing."""
        return next((f"{piece.name}: {piece.trouble}" for piece in self.pieces if piece.trouble), "")


_CUT: Final = "cut short"


class _Cursor:
    """Reads a layout over data, keeping every piece."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._start = at
        self._at = 0
        self.pieces: list[Piece] = []
        self.short = False

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def keep(self, name: str, data: bytes, value: int | str, text: str, trouble: str = "") -> None:
        self.pieces.append(Piece(name, self._start + self._at - len(data), data, value, text, trouble))
        self.short = self.short or trouble == _CUT

    def take(self, size: int) -> bytes:
        data = self._data[self._at : self._at + size]
        self._at += len(data)
        return data

    def layout(self, parts: Layout, values: Values, prefix: str, *, may_stop: bool = False) -> None:
        for part in parts:
            if self.short or (may_stop and not self.left):
                return
            self.part(part, values, prefix)

    def part(self, part: Part, values: Values, prefix: str) -> None:
        match part:
            case Field():
                self.scalar(part, values, prefix)
            case Counted(name, kind, unit):
                size = self.length(f"{prefix}{name} length")
                if not size and kind is Kind.BCD:  # no digits at all: there is no such value here
                    values[name] = None
                    return
                self.scalar(Field(name, size, kind, unit), values, prefix)
            case Rest(name, kind):
                self.scalar(Field(name, self.left, kind), values, prefix)
            case Sized(inner):
                self.sized(inner, values, prefix)
            case Many(name, inner, count):
                self.many(name, inner, values[count] if count else None, values, prefix)
            case Sizes(name, code, sizes):
                size = sizes.get(values[code], 0)
                self.scalar(Field(name, size), values, prefix)

    def length(self, name: str) -> int:
        data = self.take(1)
        size = data[0] if data else 0
        self.keep(name, data, size, str(size), "" if data else _CUT)
        return size

    def sized(self, parts: Layout, values: Values, prefix: str) -> None:
        size = self.length(f"{prefix}length")
        if self.short:
            return
        inner = _Cursor(self._data[self._at : self._at + size], self._start + self._at)
        inner.layout(parts, values, prefix, may_stop=True)
        self.pieces += inner.pieces
        self.short = inner.short
        missing = size - self.left
        self._at += min(size, self.left)
        if inner.left:
            self.keep(f"{prefix}surplus", inner.take(inner.left), "", "", "more than the layout holds")
        if missing > 0 and not self.short:
            self.keep(f"{prefix}end", b"", missing, f"{missing} bytes missing", _CUT)

    def many(self, name: str, parts: Layout, count: int | None, values: Values, prefix: str) -> None:
        rows: list[Values] = []
        while (self.left if count is None else len(rows) < count) and not self.short:
            row: Values = {}
            self.layout(parts, row, f"{prefix}{name}[{len(rows)}].")
            rows.append(row)
        values[name] = rows

    def scalar(self, field_: Field, values: Values, prefix: str) -> None:
        data = self.take(field_.size)
        name = prefix + field_.name
        if len(data) < field_.size:
            self.keep(name, data, "", data.hex(), _CUT)
            return
        try:
            value = _value(field_.kind, data)
        except ValueError as error:
            self.keep(name, data, data.hex(), data.hex(" "), str(error))
            return
        values[field_.name] = value
        self.keep(name, data, value, _text(field_, value, data))


def _value(kind: Kind, data: bytes) -> int | str:
    match kind:
        case Kind.BINARY:
            return int.from_bytes(data, "little")
        case Kind.TEXT:
            try:
                return data.decode("ascii")
            except UnicodeDecodeError:
                raise ValueError("not ASCII") from None
        case Kind.RAW:
            return data.hex()
        case Kind.BCD | Kind.DIGITS:
            digits = data.hex()
            if not digits.isdigit() and digits:
                raise ValueError("not decimal digits")
            return digits if kind is Kind.DIGITS else int(digits or "0")


def _text(field_: Field, value: int | str, data: bytes) -> str:
    if isinstance(value, str):
        return repr(value) if field_.kind is Kind.TEXT else value
    if field_.bits is not None:
        set_ = [field_.bits.get(bit, f"bit {bit}") for bit in range(8 * field_.size) if value >> bit & 1]
        return f"{value:0{2 * field_.size}X} ({', '.join(set_) or 'nothing set'})"
    if field_.names is not None:
        return f"{data.hex().upper()} {field_.names.get(value, 'unknown')}"
    return f"{value} {field_.unit}".rstrip()


def read(layout: Layout, data: bytes, at: int = 0) -> Reading:
    """Lay ``data`` out. Always succeeds; what is wrong is in the pieces. ``at``: where data begins."""
    cursor = _Cursor(data, at)
    reading = Reading()
    cursor.layout(layout, reading.values, "")
    if cursor.left and not cursor.short:
        rest = cursor.take(cursor.left)
        cursor.keep("surplus", rest, rest.hex(), rest.hex(" "), "more than the layout holds")
    reading.pieces = cursor.pieces
    return reading


def write(layout: Layout, values: Mapping[str, Any]) -> bytes:
    """Encode ``values``; a :class:`Sized` layout ends before its first part without a value.

    Raises :class:`LayoutError` for a value missing or not fitting.
    """
    return b"".join(_written(part, values) for part in layout)


def _written(part: Part, values: Mapping[str, Any]) -> bytes:
    match part:
        case Sized(parts):
            given = [inner.name in values for inner in parts]
            end = given.index(False) if False in given else len(given)
            if any(given[end:]):
                raise LayoutError(f"{parts[end].name}: no value given, and what follows it has one")
            return _sized(write(parts[:end], values), "length")
        case Counted(name, kind, _):
            return _sized(_encoded(Field(name, 0, kind), _given(values, name)), name)
        case Rest(name, kind):
            return _encoded(Field(name, 0, kind), _given(values, name))
        case Many(name, parts, _):
            return b"".join(write(parts, row) for row in _rows(values, name))
        case Sizes(name, code, sizes):
            return _encoded(Field(name, sizes.get(_given(values, code), 0)), _given(values, name))
        case Field():
            return _encoded(part, _given(values, part.name))


def _given(values: Mapping[str, Any], name: str) -> Any:
    try:
        return values[name]
    except KeyError:
        raise LayoutError(f"{name}: no value given") from None


def _rows(values: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = _given(values, name)
    return rows


def _sized(body: bytes, name: str) -> bytes:
    if len(body) > 0xFF:
        raise LayoutError(f"{name}: {len(body)} bytes do not fit behind a length byte")
    return bytes((len(body),)) + body


def _encoded(field_: Field, value: Any) -> bytes:
    """Encode one value; a size of 0 takes whatever the value needs."""
    try:
        match field_.kind:
            case Kind.BINARY:
                return int(value).to_bytes(field_.size, "little")
            case Kind.TEXT:
                data = str(value).encode("ascii")
            case Kind.RAW:
                data = bytes.fromhex(value)
            case Kind.BCD | Kind.DIGITS:
                digits = str(value).zfill(2 * field_.size)
                digits = digits.zfill(len(digits) + len(digits) % 2)
                if not (digits.isascii() and digits.isdigit()):
                    raise ValueError("not decimal digits")
                data = bytes.fromhex(digits)
    except (ValueError, TypeError, OverflowError) as error:
        raise LayoutError(f"{field_.name}: {value!r}: {error}") from error
    if field_.size and len(data) != field_.size:
        raise LayoutError(f"{field_.name}: {value!r} takes {len(data)} bytes, not {field_.size}")
    return data


def fixed_size(layout: Layout) -> int | None:
    """Return the number of bytes that the layout always takes, or None if it contains a length."""
    if all(isinstance(part, Field) for part in layout):
        return sum(part.size for part in layout if isinstance(part, Field))
    return None
