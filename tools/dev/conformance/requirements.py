"""Read and check the numbered requirements and the provisions of the regulations."""

import re
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

#: The root of the checkout.
ROOT: Final = Path(__file__).resolve().parents[3]
#: The file of the requirements; the provisions and their section numbers are in the same folder.
REQUIREMENTS_FILE: Final = ROOT / "tests" / "conformance" / "requirements.toml"
PROVISIONS_FILE: Final = "provisions.toml"
SECTIONS_FILE: Final = "sections.toml"

#: The permitted reasons why a provision, or a part of it, needs no row.
REASONS_WITHOUT_ROW: Final = {
    "person": "it concerns dealers and players at a live table: this machine deals, counts and pays by itself",
    "equipment": "it concerns physical cards, dice, wheels, chips or shoes: this machine's are simulated",
    "premises": "it concerns the venue's rooms, stores, desks, keys or staff",
    "definition": "it defines terms and requires nothing",
    "permission": "it permits the operator something and requires nothing",
    "enactment": "it amends other provisions, which are listed under their own numbers",
    "heading": "it is the heading of provisions that are listed under their own numbers",
    "revoked": "it has been revoked",
}

_REQUIREMENT_ID_PATTERN: Final = re.compile(r"([A-Z])-([0-9]{2})")
_T = TypeVar("_T")
_SEEN_VALUES: Final = frozenset({"full", "part", "titles", "secondary"})
#: A reason that says that the product lacks something. It can become false, so it must name a check.
_ABSENCE_PATTERN: Final = re.compile(
    r"\bthere (is|are) no\b|\b(machine|house|it|game|position|screen|table|profile)s? "
    r"((has|have|plays?|prints?|offers?|keeps?|drives?|gives?|takes( and issues)?) no\b|(is|are) not built)"
    r"|\bno [a-z -]{1,40}? (is|are|says|limits) \b|\bcalled by no\b|\bnot built\b",
    re.IGNORECASE,
)


class RequirementsError(Exception):
    """Raised if the requirements file is not valid; the message names the file, the key and the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document from which requirements come.

    ``seen`` says how much of it was read: ``full``, ``part``, ``titles`` (contents pages only) or ``secondary`` (a
    report about it). ``regulation`` is set for the regulations that the machine is built to.
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
    """One change of the product that removes a behaviour; a test that covers the behaviour must then fail.

    ``file`` is relative to the checkout. ``takes_away`` describes the removed behaviour, or what the machine does
    without it. ``clause`` is the letter of the requirement's clause, if the mutant belongs to one. There are three
    kinds of changes:

    * in a Python module, ``change`` is an operator with its operand (:mod:`tools.dev.mutants.change` lists them),
      applied to the function ``function`` (or ``Class.method``);
    * in a TOML file, ``becomes`` replaces the value at the path ``key``, in which entries of lists are named by
      their ``id``;
    * in any file, ``becomes`` replaces ``text``, which occurs exactly once.
    """

    file: str
    takes_away: str
    text: str = ""
    becomes: str = ""
    function: str = ""
    change: str = ""
    key: str = ""
    clause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementRow:
    """One numbered requirement.

    ``clauses`` are its parts, lettered a, b, c ... in this order; a test names one as ``F-05:b``. ``open`` says why the
    machine cannot or need not show the requirement, and ``not_yet`` what is still to be built or tested; if tests show
    a part of it, both are about the remaining part. If such a reason says that the product does not have something,
    ``absent`` names the checks of this (:mod:`tools.dev.conformance.absence`).
    """

    id: str
    text: str
    citations: tuple[Citation, ...] = ()
    see: tuple[str, ...] = ()
    jurisdictions: tuple[str, ...]
    clauses: tuple[str, ...] = ()
    open: str = ""
    not_yet: str = ""
    absent: tuple[str, ...] = ()
    mutants: tuple[Mutant, ...] = ()

    @property
    def reasons_not_shown(self) -> str:
        """Return the reasons why the requirement is not fully shown, or an empty string."""
        return " ".join(filter(None, (self.open, self.not_yet)))

    @property
    def marks(self) -> tuple[str, ...]:
        """Return the ids that tests must name to cover the requirement: those of its clauses, or else its own id."""
        letters = string.ascii_lowercase[: len(self.clauses)]
        return tuple(f"{self.id}:{letter}" for letter in letters) or (self.id,)

    @property
    def group(self) -> str:
        """Return the letter of the requirement's group."""
        return self.id[0]

    @property
    def is_required_by_regulation(self) -> bool:
        """Return whether a regulation requires this row."""
        return any(citation.source.regulation for citation in self.citations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """One provision of a regulation and the requirements that cover it.

    ``no_machine`` is a key of :data:`REASONS_WITHOUT_ROW`: why no requirement covers the provision, or not all of it.
    """

    citation: Citation
    about: str
    rows: tuple[str, ...] = ()
    no_machine: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """Everything in the requirements file, in the order of the file."""

    groups: Mapping[str, str]
    sources: Mapping[str, Source]
    rows: Mapping[str, RequirementRow]
    provisions: tuple[Provision, ...]

    @property
    def marks(self) -> frozenset[str]:
        """Return the ids that a test may name: every requirement, and every clause of one that has several."""
        return frozenset(self.rows).union(*(row.marks for row in self.rows.values()))

    def list_rows_of_group(self, letter: str) -> tuple[RequirementRow, ...]:
        """Return the rows of one group."""
        return tuple(row for row in self.rows.values() if row.group == letter)


@cache
def load(path: Path = REQUIREMENTS_FILE) -> Requirements:
    """Read and check the file at ``path``.

    Raises :class:`RequirementsError` if the file is missing, is not TOML, or contradicts itself.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RequirementsError(f"{path}: {error}") from error
    reader = _RequirementsReader(path)
    sources = {
        key: reader.build_record(Source, f"sources.{key}", {"key": key, **entry})
        for key, entry in reader.read_table(data, "sources").items()
    }
    for source in sources.values():
        reader.require(
            source.seen in _SEEN_VALUES,
            f"sources.{source.key}",
            f"seen is {source.seen!r}, not one of {sorted(_SEEN_VALUES)}",
        )
    groups = reader.read_table(data, "groups")
    provisions = reader.read_provisions(sources)
    citations_by_row: dict[str, list[Citation]] = {}
    for provision in provisions:
        for name in provision.rows:
            citations_by_row.setdefault(name, []).append(provision.citation)
    rows = {
        key: reader.read_row(key, entry, sources, citations_by_row.get(key, ()))
        for key, entry in reader.read_table(data, "rows").items()
    }
    requirements = Requirements(
        groups=MappingProxyType(groups),
        sources=MappingProxyType(sources),
        rows=MappingProxyType(rows),
        provisions=provisions,
    )
    _check_numbering(requirements, reader)
    _check_provisions(requirements, reader)
    _check_sections(requirements, reader)
    return requirements


@dataclass(frozen=True, slots=True)
class _RequirementsReader:
    """Reader that turns the tables of one file into objects; every error names the file and the key."""

    path: Path

    def build_error(self, key_path: str, reason: str) -> RequirementsError:
        return RequirementsError(f"{self.path}: {key_path}: {reason}")

    def require(self, condition: object, key_path: str, reason: str) -> None:
        """Raise :class:`RequirementsError` with the reason unless ``condition`` is true; ``key_path`` is the key."""
        if not condition:
            raise self.build_error(key_path, reason)

    def read_table(self, data: Mapping[str, Any], key: str) -> dict[str, Any]:
        value: dict[str, Any] = data.get(key, {})
        self.require(isinstance(value, dict) and value, key, "the table is missing or empty")
        return value

    def build_record(self, kind: type[_T], key_path: str, entry: Mapping[str, Any]) -> _T:
        try:
            return kind(**entry)
        except TypeError as error:
            raise self.build_error(key_path, str(error)) from error

    def parse_citation(self, key_path: str, text: str, sources: Mapping[str, Source]) -> Citation:
        key, _, clause = text.partition(" ")
        self.require(
            key in sources, key_path, f"{text!r} names the source {key!r}, which [sources] does not explain"
        )
        return Citation(sources[key], clause.strip())

    def read_sibling_file(self, name: str) -> dict[str, Any]:
        """Return the tables of another file in the same folder; empty if there is no such file."""
        path = self.path.with_name(name)
        try:
            return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise RequirementsError(f"{path}: {error}") from error

    def read_provisions(self, sources: Mapping[str, Source]) -> tuple[Provision, ...]:
        provisions = []
        for key, entries in self.read_sibling_file(PROVISIONS_FILE).items():
            for clause, entry in entries.items():
                key_path = f"provisions {key} {clause}"
                fields = {
                    name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()
                }
                citation = self.parse_citation(key_path, f"{key} {clause}", sources)
                provisions.append(self.build_record(Provision, key_path, {"citation": citation, **fields}))
        return tuple(provisions)

    def read_row(
        self,
        key: str,
        entry: Mapping[str, Any],
        sources: Mapping[str, Source],
        provision_citations: Sequence[Citation] = (),
    ) -> RequirementRow:
        key_path = f"rows.{key}"
        self.require(
            _REQUIREMENT_ID_PATTERN.fullmatch(key), key_path, "an id is a letter, a dash and two digits"
        )
        fields = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
        named_citations = tuple(
            self.parse_citation(key_path, text, sources) for text in fields.pop("sources", ())
        )
        citations = (
            *named_citations,
            *(citation for citation in provision_citations if citation not in named_citations),
        )
        mutants = tuple(
            self.build_record(Mutant, f"{key_path}.mutants", mutant) for mutant in fields.pop("mutants", ())
        )
        row = self.build_record(
            RequirementRow, key_path, {"id": key, "citations": citations, "mutants": mutants, **fields}
        )
        for mutant in mutants:
            self.check_mutant(row, mutant, key_path)
        self.require(
            row.text.strip() and row.jurisdictions, key_path, "text and jurisdictions must not be empty"
        )
        self.require(citations or row.see, key_path, "a row needs a source or a row it leans on")
        self.require(
            row.absent or not _ABSENCE_PATTERN.search(row.reasons_not_shown),
            key_path,
            f"its reason says what the product has not, and names no check: {row.reasons_not_shown!r}",
        )
        return row

    def check_mutant(self, row: RequirementRow, mutant: Mutant, key_path: str) -> None:
        mark = f"{row.id}:{mutant.clause}" if mutant.clause else row.id
        self.require(
            mark in row.marks,
            key_path,
            f"a mutant is of {mark!r}; the row is shown by {', '.join(row.marks)}",
        )
        if mutant.function or mutant.key:
            is_complete = bool(mutant.change) if mutant.function else bool(mutant.becomes)
        else:
            is_complete = bool(mutant.text) and mutant.text != mutant.becomes
        self.require(
            is_complete and mutant.takes_away,
            key_path,
            "a mutant changes a function, a key or a text into another and says what that takes away",
        )


def _check_numbering(requirements: Requirements, reader: _RequirementsReader) -> None:
    """Check that groups are complete: rows run 1, 2, 3 ... and every group has a name."""
    for letter in requirements.groups:
        numbers = [int(row.id[2:]) for row in requirements.list_rows_of_group(letter)]
        reader.require(
            numbers and numbers == list(range(1, len(numbers) + 1)),
            f"group {letter}",
            f"its rows are not numbered 1, 2, 3 ...: {numbers}",
        )
    for row in requirements.rows.values():
        key_path = f"rows.{row.id}"
        reader.require(
            row.group in requirements.groups, key_path, f"group {row.group} has no name in [groups]"
        )
        for other_id in row.see:
            is_another = other_id in requirements.rows and other_id != row.id
            reader.require(is_another, key_path, f"see names {other_id!r}, which is not another row")


def _check_provisions(requirements: Requirements, reader: _RequirementsReader) -> None:
    """Check that each provision lists exactly the requirements that cite it, and that they exist."""
    rows_by_citation: dict[str, tuple[str, ...]] = {}
    for provision in requirements.provisions:
        key_path = f"provisions {provision.citation}"
        source, reason = provision.citation.source, provision.no_machine
        unknown_rows = [name for name in provision.rows if name not in requirements.rows]
        reader.require(not unknown_rows, key_path, f"names rows that do not exist: {unknown_rows}")
        reader.require(source.regulation, key_path, f"{source.key} is not marked as a regulation")
        reader.require(
            not reason or reason in REASONS_WITHOUT_ROW,
            key_path,
            f"{reason!r} is no reason: {sorted(REASONS_WITHOUT_ROW)}",
        )
        reader.require(
            provision.rows or reason,
            key_path,
            "a provision without rows says why it is no machine's (no_machine)",
        )
        reader.require(provision.about.strip(), key_path, "a provision says in a few words what it is about")
        rows_by_citation[str(provision.citation)] = provision.rows
    for row in requirements.rows.values():
        for citation in row.citations:
            reader.require(
                not citation.source.regulation or row.id in rows_by_citation.get(str(citation), ()),
                f"rows.{row.id}",
                f"cites {citation}, whose provision does not list it",
            )


def _check_sections(requirements: Requirements, reader: _RequirementsReader) -> None:
    """Check that, for each regulation, the list of its sections and the listed provisions agree."""
    clauses_by_source: dict[str, list[str]] = {}
    for provision in requirements.provisions:
        clauses_by_source.setdefault(provision.citation.source.key, []).append(provision.citation.clause)
    for key, section_numbers in reader.read_sibling_file(SECTIONS_FILE).items():
        sections, clauses = section_numbers.split(), set(clauses_by_source.pop(key, ()))
        missing_clauses = ", ".join(number for number in sections if number not in clauses)
        reader.require(
            not missing_clauses, f"sections.{key}", f"no provision, and no reason, for {missing_clauses}"
        )
        unknown_clauses = ", ".join(sorted(clauses.difference(sections)))
        reader.require(not unknown_clauses, f"sections.{key}", f"the text has no {unknown_clauses}")
    reader.require(
        not clauses_by_source, "sections", f"the numbers of {', '.join(clauses_by_source)} are not listed"
    )
