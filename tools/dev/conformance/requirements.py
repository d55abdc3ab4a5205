"""The numbered requirements, read from their file and checked whole."""

import re
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

#: the root of the checkout
ROOT: Final = Path(__file__).resolve().parents[3]
#: where the numbered requirements are kept
REQUIREMENTS: Final = ROOT / "tests" / "conformance" / "requirements.toml"

_ID: Final = re.compile(r"([A-Z])-([0-9]{2})")
_T = TypeVar("_T")
_SEEN: Final = frozenset({"full", "part", "titles", "secondary"})


class RequirementsError(Exception):
    """The file of requirements is not usable; the message names the file, the place and the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text the requirements come from.

    ``seen`` says how much of it was read: ``full``, ``part``, ``titles`` (contents pages only) or
    ``secondary`` (a report about it). ``regulation`` marks the texts the machine is built to.
    """

    key: str
    title: str
    seen: str
    regulation: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """One clause of one source, e.g. ``QC`` and ``s.95``."""

    source: Source
    clause: str

    def __str__(self) -> str:
        return f"{self.source.key} {self.clause}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of the product that takes a behaviour away; a test that shows the behaviour must then fail.

    ``text`` occurs exactly once in ``file`` (from the root of the checkout) and ``becomes`` stands in its
    place; ``takes_away`` says what is gone. ``clause`` is the letter of the clause it is of, if any.
    """

    file: str
    text: str
    becomes: str
    takes_away: str
    clause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One numbered requirement.

    ``clauses`` are its parts, lettered a, b, c ... in this order; a test names one as ``F-05:b``. ``open``
    says why the machine cannot or need not show the row, ``not_yet`` what is still to be built or tested; of
    a row that tests show in part, they say what is left.
    """

    id: str
    text: str
    citations: tuple[Citation, ...] = ()
    see: tuple[str, ...] = ()
    jurisdictions: tuple[str, ...]
    clauses: tuple[str, ...] = ()
    open: str = ""
    not_yet: str = ""
    mutants: tuple[Mutant, ...] = ()

    @property
    def left(self) -> str:
        """What is left of the row, and why; empty where nothing is."""
        return " ".join(filter(None, (self.open, self.not_yet)))

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks that between them show the whole row: its id, or that of each of its clauses."""
        letters = string.ascii_lowercase[: len(self.clauses)]
        return tuple(f"{self.id}:{letter}" for letter in letters) or (self.id,)

    @property
    def group(self) -> str:
        """The letter the row belongs to."""
        return self.id[0]

    @property
    def regulation(self) -> bool:
        """True where a text the machine is built to asks for this row by name."""
        return any(citation.source.regulation for citation in self.citations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """One provision of a regulation and the rows that carry it; ``note`` says why where there are none."""

    citation: Citation
    about: str
    rows: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """Everything in the file, in the order of the file."""

    groups: Mapping[str, str]
    sources: Mapping[str, Source]
    rows: Mapping[str, Row]
    provisions: tuple[Provision, ...]

    @property
    def marks(self) -> frozenset[str]:
        """What a test may name: every row, and every clause of a row that has several."""
        return frozenset(self.rows).union(*(row.marks for row in self.rows.values()))

    def in_group(self, letter: str) -> tuple[Row, ...]:
        """The rows of one group."""
        return tuple(row for row in self.rows.values() if row.group == letter)


@cache
def load(path: Path = REQUIREMENTS) -> Requirements:
    """Read and check the file at ``path``.

    Raises :class:`RequirementsError` where the file is missing, is not TOML, or contradicts itself.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RequirementsError(f"{path}: {error}") from error
    reader = _Reader(path)
    sources = {
        key: reader.make(Source, f"sources.{key}", {"key": key, **entry})
        for key, entry in reader.table(data, "sources").items()
    }
    for source in sources.values():
        if source.seen not in _SEEN:
            raise reader.error(
                f"sources.{source.key}", f"seen is {source.seen!r}, not one of {sorted(_SEEN)}"
            )
    rows = {key: reader.row(key, entry, sources) for key, entry in reader.table(data, "rows").items()}
    groups = reader.table(data, "groups")
    provisions = tuple(
        reader.make(
            Provision,
            f"provisions {entry.get('provision')}",
            {
                "citation": reader.citation("provisions", str(entry.get("provision")), sources),
                "about": entry.get("about"),
                "rows": tuple(entry.get("rows", ())),
                "note": entry.get("note", ""),
            },
        )
        for entry in data.get("provisions", ())
    )
    requirements = Requirements(
        groups=MappingProxyType(groups),
        sources=MappingProxyType(sources),
        rows=MappingProxyType(rows),
        provisions=provisions,
    )
    _check_numbering(requirements, reader)
    _check_provisions(requirements, reader)
    return requirements


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns the tables of one file into objects; every complaint names the file and the key."""

    path: Path

    def error(self, where: str, reason: str) -> RequirementsError:
        return RequirementsError(f"{self.path}: {where}: {reason}")

    def table(self, data: Mapping[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key)
        if not isinstance(value, dict) or not value:
            raise self.error(key, "the table is missing or empty")
        return value

    def make(self, kind: type[_T], where: str, entry: Mapping[str, Any]) -> _T:
        try:
            return kind(**entry)
        except TypeError as error:
            raise self.error(where, str(error)) from error

    def citation(self, where: str, text: str, sources: Mapping[str, Source]) -> Citation:
        key, _, clause = text.partition(" ")
        if key not in sources:
            raise self.error(where, f"{text!r} names the source {key!r}, which [sources] does not explain")
        return Citation(sources[key], clause.strip())

    def row(self, key: str, entry: Mapping[str, Any], sources: Mapping[str, Source]) -> Row:
        where = f"rows.{key}"
        if not _ID.fullmatch(key):
            raise self.error(where, "an id is a letter, a dash and two digits")
        fields = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
        citations = tuple(self.citation(where, text, sources) for text in fields.pop("sources", ()))
        mutants = tuple(self.make(Mutant, f"{where}.mutants", mutant) for mutant in fields.pop("mutants", ()))
        row = self.make(Row, where, {"id": key, "citations": citations, "mutants": mutants, **fields})
        for mutant in mutants:
            self.mutant(row, mutant, where)
        if not row.text.strip() or not row.jurisdictions:
            raise self.error(where, "text and jurisdictions must not be empty")
        if not citations and not row.see:
            raise self.error(where, "a row needs a source or a row it leans on")
        return row

    def mutant(self, row: Row, mutant: Mutant, where: str) -> None:
        mark = f"{row.id}:{mutant.clause}" if mutant.clause else row.id
        if mark not in row.marks:
            raise self.error(where, f"a mutant is of {mark!r}; the row is shown by {', '.join(row.marks)}")
        if not mutant.text or mutant.text == mutant.becomes or not mutant.takes_away:
            raise self.error(where, "a mutant changes a text into another and says what that takes away")


def _check_numbering(requirements: Requirements, reader: _Reader) -> None:
    """Groups are complete: rows run 1, 2, 3 ... and every group has a name."""
    for letter in requirements.groups:
        numbers = [int(row.id[2:]) for row in requirements.in_group(letter)]
        if not numbers or numbers != list(range(1, len(numbers) + 1)):
            raise reader.error(f"group {letter}", f"its rows are not numbered 1, 2, 3 ...: {numbers}")
    for row in requirements.rows.values():
        if row.group not in requirements.groups:
            raise reader.error(f"rows.{row.id}", f"group {row.group} has no name in [groups]")
        for other in row.see:
            if other not in requirements.rows or other == row.id:
                raise reader.error(f"rows.{row.id}", f"see names {other!r}, which is not another row")


def _check_provisions(requirements: Requirements, reader: _Reader) -> None:
    """Every provision leads to rows that exist, and every row that cites a provision is listed by it."""
    listed: dict[str, tuple[str, ...]] = {}
    for provision in requirements.provisions:
        where = f"provisions {provision.citation}"
        missing = [name for name in provision.rows if name not in requirements.rows]
        if missing:
            raise reader.error(where, f"names rows that do not exist: {missing}")
        if str(provision.citation) in listed:
            raise reader.error(where, "the provision is listed twice")
        if not provision.citation.source.regulation:
            raise reader.error(where, f"{provision.citation.source.key} is not marked as a regulation")
        if not provision.rows and not provision.note:
            raise reader.error(where, "a provision without rows needs a note saying why")
        listed[str(provision.citation)] = provision.rows
    for row in requirements.rows.values():
        for citation in row.citations:
            if citation.source.regulation and row.id not in listed.get(str(citation), ()):
                raise reader.error(f"rows.{row.id}", f"cites {citation}, whose provision does not list it")
