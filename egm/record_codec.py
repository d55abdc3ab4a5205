"""Convert between frozen dataclasses and the JSON of the journal; used for every stored record.

A record is a frozen, keyword-only dataclass of plain fields. :func:`to_json` writes it. :func:`from_json`
reads it back and rejects anything that is not exactly such a record; the error names the storage key or entry,
the field and the value. A field may be ``int``, ``str``, ``bool``, ``JSON``, a ``Fraction`` (as text), a ``StrEnum``, a
``Literal`` of texts, ``X | None``, ``tuple[X, ...]``, ``tuple[X, Y]``, ``Mapping[str, X]``, another record,
a type with its own ``to_json`` and ``from_json``, or any of these with a :class:`FieldCondition`
(``Annotated[int, FieldCondition(...)]``, see :mod:`egm.record_fields`).

A plain default applies when reading: it stands in for a field that older journals do not have. A field name that
is a Python keyword ends in an underscore here (``from_``), but not in the JSON. A field may be stored under
another key than its name (:func:`stored_as`).
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import repeat
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    ForwardRef,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    overload,
)

from egm.errors import LocalError, OperatorError
from egm.exact import parse_rational
from meters.transaction import JSON

ValueT = TypeVar("ValueT")
RecordT = TypeVar("RecordT")

#: Reads the JSON of a record's field and returns the field's value.
ValueReader: TypeAlias = Callable[[object], object]
#: A function that converts a record field's value to JSON; None if the value is already JSON.
ValueWriter: TypeAlias = Callable[[object], JSON] | None

#: Metadata: the field is left out of the JSON if it has its default.
_OMIT_METADATA_KEY: Final = "omitted"
#: Metadata: the field's record is merged into its owner's JSON.
_INLINE_METADATA_KEY: Final = "inline"
#: Metadata: the field's key in the JSON.
_STORED_KEY_METADATA_KEY: Final = "key"
#: Longest part of a wrong value that an error shows, in characters.
_QUOTED_VALUE_LENGTH_MAX: Final = 80


class RecordError(LocalError):
    """Raised if a record in the journal is invalid; it names the record, the field and the value."""


class _WrongValueError(Exception):
    """Raised if a value in a record is invalid.

    It holds the message, and the path of keys that leads to the value.
    """

    def __init__(self, value: object, expected: str) -> None:
        super().__init__()
        shown_value = repr(value)
        shown_value = (
            f"{shown_value[:_QUOTED_VALUE_LENGTH_MAX]}..."
            if len(shown_value) > _QUOTED_VALUE_LENGTH_MAX
            else shown_value
        )
        self.says = f"is {shown_value}, {expected}" if value is not dataclasses.MISSING else expected
        self.path: list[str] = []

    def add_path_part(self, name: str) -> "_WrongValueError":
        """Put a key or index in front of the path to the wrong value; return this error."""
        self.path.append(name)
        return self


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class FieldCondition:
    """A condition that a record's field must fulfil in addition to its type.

    ``meaning`` describes the valid values, for the generated list of all records. ``error_text`` completes the message
    about a wrong value: "is VALUE, ERROR TEXT".
    """

    meaning: str
    error_text: str
    is_fulfilled: Callable[..., bool]


class _JsonConvertible(Protocol):
    """Interface of a class that converts its instances to JSON with its own ``to_json``."""

    def to_json(self) -> JSON: ...


#: Marks a field that holds an object and is never stored; only the object's class is checked.
NOT_STORED: Final = FieldCondition("object in memory", "", bool)


def omit_if_default(default: ValueT, *, key: str = "") -> ValueT:
    """Declare a field of a record that is left out of the JSON if it has its default value.

    ``key`` is the field's key in the JSON; "" if that is the field's name.
    """
    metadata = {_OMIT_METADATA_KEY: True, _STORED_KEY_METADATA_KEY: key}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=lambda: default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def stored_as(key: str) -> dict[str, str]:
    """Return dataclass metadata that stores a record's field under another JSON key than its name."""
    return {_STORED_KEY_METADATA_KEY: key}


def get_stored_key(field: "dataclasses.Field[object]") -> str:
    """Return the key under which a record's field is stored in the JSON."""
    return str(field.metadata.get(_STORED_KEY_METADATA_KEY) or field.name.removesuffix("_"))


@overload
def inline_record() -> Any: ...
@overload
def inline_record(default: ValueT) -> ValueT: ...
def inline_record(default: object = dataclasses.MISSING) -> object:
    """Declare a field of a record that is itself a record (the inner one).

    The inner record's fields are stored in the JSON object of the outer record. If the inner record equals the default,
    none of its fields is stored.
    """
    return dataclasses.field(default=default, metadata={_INLINE_METADATA_KEY: True})


def is_record(value: object) -> bool:
    """Return whether a value is a record rather than JSON."""
    return hasattr(value, "__dataclass_fields__")


def to_json(record: object) -> dict[str, JSON]:
    """Return a record as the JSON that the journal stores."""
    return _find_codec(type(record)).write(record)


def from_json(kind: type[RecordT], data: object, record_name: str) -> RecordT:
    """Return the record of class ``kind`` that the JSON ``data`` represents.

    Raises :class:`RecordError` for any other JSON; the message begins with ``record_name``.
    """
    try:
        return cast(RecordT, _find_codec(kind).read(data))
    except _WrongValueError as error:
        location = f"{record_name}: {'.'.join(reversed(error.path))}" if error.path else record_name
        raise RecordError(f"{location} {error.says}") from None


def check_fields(record: object, record_name: str) -> None:
    """Check that each field of a record built in memory has a value of its type.

    Raises :class:`RecordError` otherwise; the message begins with ``record_name``.
    """
    try:
        _find_codec(type(record)).check(record)
    except _WrongValueError as error:
        raise RecordError(f"{record_name}: {'.'.join(reversed(error.path))} {error.says}") from None


def list_conditions(hint: object) -> tuple[FieldCondition, ...]:
    """Return the :class:`FieldCondition` objects in the type ``hint`` of a record's field.

    For a type ``X | None``, return the conditions of ``X``.
    """
    if get_origin(hint) is Annotated:
        return tuple(metadata for metadata in get_args(hint)[1:] if isinstance(metadata, FieldCondition))
    inner = get_args(hint) if get_origin(hint) in {Union, UnionType} else ()
    return tuple(condition for inner_hint in inner for condition in list_conditions(inner_hint))


def check_value(hint: object, data: object, value_name: str) -> None:
    """Check that the JSON ``data`` is a valid value for a record field of the type ``hint``.

    Raises :class:`RecordError` otherwise; the message begins with ``value_name``.
    """
    read_value = _VALUE_READER_BY_TYPE.get(hint)
    if read_value is None:
        read_value = _VALUE_READER_BY_TYPE[hint] = _build_converters(hint)[0]
    try:
        read_value(data)
    except _WrongValueError as error:
        location = f"{value_name}: {'.'.join(reversed(error.path))}" if error.path else value_name
        raise RecordError(f"{location} {error.says}") from None


class _CodecField(NamedTuple):
    """How one field of a record is read from and written to JSON; ``key`` is its key in the JSON."""

    name: str
    key: str
    read_value: ValueReader
    write_value: ValueWriter
    default_value: object
    is_omitted_if_default: bool
    """Whether the field is left out of the JSON if it has its default value."""
    unconverted_type: object
    """The type of values that need no conversion: a value of exactly this type is read unchanged."""


class _RecordCodec:
    """The converter of one class of records from and to JSON."""

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._fields: list[_CodecField] = []
        self._inline: list[tuple[str, _RecordCodec, object]] = []
        for field in dataclasses.fields(kind):
            if _INLINE_METADATA_KEY in field.metadata:
                self._inline.append((field.name, _find_codec(cast(type, field.type)), field.default))
                continue
            default = field.default
            if field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
            read_value, write = _build_converters(field.type)
            key = get_stored_key(field)
            plain = field.type if field.type in _READER_BY_EXACT_TYPE else None
            self._fields.append(
                _CodecField(
                    field.name, key, read_value, write, default, _OMIT_METADATA_KEY in field.metadata, plain
                )
            )
        self.names: frozenset[str] = frozenset(record_field.key for record_field in self._fields).union(
            *(codec.names for _, codec, _ in self._inline)
        )

    def write(self, record: object) -> dict[str, JSON]:
        """Return a record as JSON."""
        json_object: dict[str, JSON] = {}
        for name, key, _, write, default, is_omitted, _ in self._fields:
            value = getattr(record, name)
            if not is_omitted or value != default:
                json_object[key] = value if write is None else write(value)
        for name, codec, default in self._inline:
            part = getattr(record, name)
            if part != default:
                json_object.update(codec.write(part))
        return json_object

    def check(self, record: object) -> None:
        """Check that the fields of a record in memory have values of their types. Raises :class:`_WrongValueError`."""
        for name, key, read_value, _, _, _, plain in self._fields:
            value = getattr(record, name)
            if type(value) is not plain:
                try:
                    read_value(value)
                except _WrongValueError as error:
                    raise error.add_path_part(key) from None

    def read(self, data: object) -> object:
        """Return the record that ``data`` contains, which is JSON or already a record.

        Raises :class:`_WrongValueError`.
        """
        if isinstance(data, self._kind):
            self.check(data)
            return data
        if type(data) is not dict and not isinstance(data, Mapping):
            raise _WrongValueError(data, "not a record")
        if not data.keys() <= self.names:
            name = next(name for name in data if name not in self.names)
            raise _WrongValueError(data[name], "a field that is not known").add_path_part(str(name))
        return self.read_inline_fields(data)

    def read_inline_fields(self, data: Mapping[str, object]) -> object:
        """Return the record whose fields are stored in the JSON object of an outer record; ignore the other keys."""
        values: dict[str, object] = {}
        for name, key, read_value, _, default_value, _, unconverted_type in self._fields:
            if key in data:
                value = data[key]
                try:
                    values[name] = value if type(value) is unconverted_type else read_value(value)
                except _WrongValueError as error:
                    raise error.add_path_part(key) from None
            elif default_value is dataclasses.MISSING:
                raise _WrongValueError(dataclasses.MISSING, "is missing").add_path_part(key)
        for name, codec, default_value in self._inline:
            if default_value is dataclasses.MISSING or not codec.names.isdisjoint(data):
                values[name] = codec.read_inline_fields(data)
        return self._kind(**values)


#: The converter of each class of records, built at first use.
_CODEC_BY_RECORD_CLASS: Final[dict[type, _RecordCodec]] = {}
#: The reader of each type of field, built at first use.
_VALUE_READER_BY_TYPE: Final[dict[object, ValueReader]] = {}


def _find_codec(kind: type) -> _RecordCodec:
    """Return the converter of a class of records; it is created at first use."""
    codec = _CODEC_BY_RECORD_CLASS.get(kind)
    if codec is None:
        codec = _CODEC_BY_RECORD_CLASS[kind] = _RecordCodec(kind)
    return codec


# ---------------------------------------------------------------------------------------------- field types
def _build_exact_type_reader(kind: type) -> ValueReader:
    """Return a reader of a field that accepts a value of exactly the type ``kind``.

    A bool is not accepted as an int, although Python counts it as one.
    """

    def read_exact(value: object) -> object:
        """Return the value if its type is exactly the declared one; a bool is not accepted as an int."""
        if type(value) is not kind and not (kind is str and isinstance(value, str)):  # bool is not int
            raise _WrongValueError(value, f"not of type {kind.__name__}")
        return value

    return read_exact


#: The readers of fields with a plain type: an int, a text, or true or false.
_READER_BY_EXACT_TYPE: Final[Mapping[object, ValueReader]] = {
    kind: _build_exact_type_reader(kind) for kind in (int, str, bool, NoneType)
}


def _build_converters(hint: object) -> tuple[ValueReader, ValueWriter]:
    """Return the functions that read and write a record field of the type ``hint``."""
    plain = _return_unchanged if _is_json_type(hint) else _READER_BY_EXACT_TYPE.get(hint)
    if plain is not None:
        return plain, None
    converters = _build_compound_type_converters(get_origin(hint), get_args(hint))
    if converters is not None:
        return converters
    if not isinstance(hint, type):
        raise TypeError(f"a record has no fields of type {hint}")
    return _build_class_converters(hint)


def _build_compound_type_converters(
    generic_type: object, type_arguments: tuple[object, ...]
) -> tuple[ValueReader, ValueWriter] | None:
    """Return the functions that read and write a record field of a compound type, such as a tuple.

    Return None for a type that is not compound.
    """
    if generic_type is Annotated:
        return _build_conditional_converters(type_arguments[0], type_arguments[1:])
    if generic_type is tuple:
        return (
            _build_list_converters(*type_arguments)
            if type_arguments[1:] == (Ellipsis,)
            else _build_fixed_tuple_converters(type_arguments)
        )
    if generic_type in {Union, UnionType} and NoneType in type_arguments:
        return _build_optional_converters(
            *(inner_hint for inner_hint in type_arguments if inner_hint is not NoneType)
        )
    if generic_type is Literal:
        return _build_choice_reader(cast(tuple[str, ...], type_arguments)), None
    if generic_type is not None and issubclass(cast(type, generic_type), Mapping):
        return _build_mapping_converters(*type_arguments)
    return None


def _build_conditional_converters(
    hint: object, conditions: Sequence[object]
) -> tuple[ValueReader, ValueWriter]:
    """Return the functions that read and write a record field whose type has conditions.

    The reader checks the conditions.
    """
    if NOT_STORED in conditions:
        return _build_instance_reader(cast(type, hint)), None
    read_type, write = _build_converters(hint)
    checks = [condition for condition in conditions if isinstance(condition, FieldCondition)]

    def read(value: object) -> object:
        """Read the field's value, and raise an error if it breaks one of the type's conditions."""
        read_value = read_type(value)
        for check in checks:
            if not check.is_fulfilled(read_value):
                raise _WrongValueError(value, check.error_text)
        return read_value

    if len(checks) != 1 or hint not in _READER_BY_EXACT_TYPE:
        return read, write
    is_fulfilled = checks[0].is_fulfilled

    def read_quickly(value: object) -> object:
        """Return the field's value if a quick check shows that it is valid; otherwise run every check on it."""
        return value if type(value) is hint and is_fulfilled(value) else read(value)

    return read_quickly, write


def _build_instance_reader(kind: type) -> ValueReader:
    """Return a reader that accepts an object in memory if it is an instance of ``kind``."""

    def read_instance(value: object) -> object:
        """Return the object if it is an instance of the declared class. Raises :class:`_WrongValueError` otherwise."""
        if not isinstance(value, kind):
            raise _WrongValueError(value, f"not a {kind.__name__}")
        return value

    return read_instance


def _build_class_converters(kind: type) -> tuple[ValueReader, ValueWriter]:
    """Return the functions that read and write a record field that contains an instance of a class."""
    if issubclass(kind, StrEnum):
        # Write the plain text, because an audit distinguishes it from the enum member.
        return _build_choice_reader(kind), str
    if kind is Fraction:
        return _read_fraction, str
    if hasattr(kind, "from_json"):
        return _build_json_convertible_converters(kind)
    if not dataclasses.is_dataclass(kind):
        raise TypeError(f"a record has no fields of type {kind}")
    codec = _find_codec(kind)
    return codec.read, codec.write


def _is_json_type(hint: object) -> bool:
    """Return whether the field's type is JSON of any shape, such as a game's display data."""
    return hint == JSON or (isinstance(hint, ForwardRef) and hint.__forward_arg__ == JSON)


def _return_unchanged(value: object) -> object:
    """Return the value unchanged: JSON of any shape is stored without conversion."""
    return value


def _build_optional_converters(*hints: object) -> tuple[ValueReader, ValueWriter]:
    """Return the functions that read and write a record field of type ``X | None``."""
    if len(hints) != 1:
        raise TypeError(f"a record has no fields of several types: {hints}")
    read_value, write = _build_converters(hints[0])
    if write is None:
        return lambda value: None if value is None else read_value(value), None
    return (
        lambda value: None if value is None else read_value(value),
        lambda value: None if value is None else write(value),
    )


def _build_list_converters(hint: object, _: object) -> tuple[ValueReader, ValueWriter]:
    """Return the functions that read and write a record field with a list of items of type ``hint``."""
    read_one, write_one = _build_converters(hint)

    def read_list(value: object) -> object:
        """Return a tuple of the list's items, each read by its type."""
        return _read_items(_require_list(value), repeat(read_one))

    def write_list(value: object) -> JSON:
        """Return the JSON list of the field's items."""
        items = cast(Sequence[JSON], value)
        return list(items) if write_one is None else [write_one(item) for item in items]

    return read_list, write_list


def _build_fixed_tuple_converters(hints: Sequence[object]) -> tuple[ValueReader, ValueWriter]:
    """Return the functions that read and write a record field of type ``tuple[X, Y]``.

    The number of items is fixed, and each item has its own type.
    """
    columns = [_build_converters(hint) for hint in hints]
    value_readers = [read for read, _ in columns]
    are_all_plain = all(write is None for _, write in columns)
    kinds = tuple(hints)

    def read_row(value: object) -> object:
        """Return the JSON list's items as a tuple, each read by its own type; their number is fixed."""
        row = _require_list(value)
        if tuple(map(type, row)) == kinds:
            return tuple(row)
        if len(row) != len(columns):
            raise _WrongValueError(value, f"not {len(columns)} values")
        return _read_items(row, value_readers)

    def write_row(value: object) -> JSON:
        """Return the JSON list of a tuple's items, each written by its own type."""
        row = cast(Sequence[JSON], value)
        return (
            list(row)
            if are_all_plain
            else [
                each if write is None else write(each) for each, (_, write) in zip(row, columns, strict=True)
            ]
        )

    return read_row, write_row


def _build_mapping_converters(key: object, hint: object) -> tuple[ValueReader, ValueWriter]:
    """Return the functions that read and write a record field of type ``Mapping``, a JSON object."""
    (read_key, _), (read_one, write_one) = _build_converters(key), _build_converters(hint)

    def read_table(value: object) -> object:
        """Return the JSON object as a mapping, with keys and values read by their types."""
        if not isinstance(value, Mapping):
            raise _WrongValueError(value, "not a table")
        return {read_key(name): _read_member(name, read_one, each) for name, each in value.items()}

    def write_table(value: object) -> JSON:
        """Return the JSON object of the mapping."""
        table = cast(Mapping[str, JSON], value)
        if write_one is None:
            return {str(name): each for name, each in table.items()}
        return {str(name): write_one(each) for name, each in table.items()}

    return read_table, write_table


def _read_items(items: Sequence[object], item_readers: Iterable[ValueReader]) -> tuple[object, ...]:
    """Return a tuple of the items, each read by the function at the same index in ``item_readers``.

    An error states the index of the wrong item.
    """
    read_items: list[object] = []
    try:
        for read_item, item in zip(item_readers, items, strict=False):
            read_items.append(read_item(item))
    except _WrongValueError as error:
        raise error.add_path_part(str(len(read_items))) from None
    return tuple(read_items)


def _require_list(value: object) -> Sequence[object]:
    """Return the value if it is a list. Raises :class:`_WrongValueError` otherwise."""
    if not isinstance(value, list | tuple):
        raise _WrongValueError(value, "not a list")
    return value


def _read_member(path: object, read_value: ValueReader, value: object) -> object:
    """Read the value of one key of a JSON object; an error states the key."""
    try:
        return read_value(value)
    except _WrongValueError as error:
        raise error.add_path_part(str(path)) from None


def _read_fraction(value: object) -> Fraction:
    """Return the fraction that a text states. Raises :class:`_WrongValueError` for any other value."""
    try:
        return parse_rational(value)
    except ValueError as error:
        raise _WrongValueError(value, f"not exact: {error}") from None


def _build_choice_reader(kinds: Iterable[str]) -> ValueReader:
    """Return the reader of a field that accepts only the given choices, such as the members of an enumeration."""
    choice_by_text = {str(kind): kind for kind in kinds}

    def read_choice(value: object) -> object:
        """Return the choice that the text in the JSON names."""
        choice = choice_by_text.get(value) if isinstance(value, str) else None
        if choice is None:
            raise _WrongValueError(value, f"not one of {', '.join(choice_by_text)}")
        return choice

    return read_choice


def _build_json_convertible_converters(kind: type) -> tuple[ValueReader, ValueWriter]:
    """Return the functions that read and write a field whose class has its own ``from_json`` and ``to_json``."""
    from_own = cast(Callable[[object], object], kind.from_json)  # type: ignore[attr-defined]  # the caller has checked it

    def read(value: object) -> object:
        """Return the object that the class's own ``from_json`` makes of the value; an error means a wrong value."""
        try:
            return from_own(value)
        except (KeyError, TypeError, ValueError, AttributeError, LocalError, OperatorError) as error:
            raise _WrongValueError(value, f"no {kind.__name__}: {error!r}") from None

    return read, lambda value: cast(_JsonConvertible, value).to_json()
