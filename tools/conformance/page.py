"""``CONFORMANCE.md``: sections, each made from the requirements and the evidence, one after another."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tools.conformance.evidence import Evidence, Status, Witness
from tools.conformance.requirements import Citation, Requirements, Row

#: more tests than this are folded away behind their number
_UNFOLDED: Final = 3

Section = Callable[[Requirements, Evidence], str]


def page(requirements: Requirements, evidence: Evidence) -> str:
    """The whole page, the same for the same requirements and tests."""
    return "\n\n".join(section(requirements, evidence).strip() for section in SECTIONS) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numeric: frozenset[int] = frozenset()) -> str:
    """A Markdown table; the columns in ``numeric`` are set to the right."""
    rule = ["---:" if column in numeric else "---" for column in range(len(head))]
    lines = [head, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def introduction(requirements: Requirements, evidence: Evidence) -> str:
    """What the page is, and what its words mean."""
    tests = len({test for found in evidence.tests.values() for test in found})
    return f"""\
# Conformance

Written by `make conformance`; edit `tests/conformance/requirements.toml` and the tests, not this page.

The {len(requirements.rows)} numbered requirements below are drawn from regulations and public technical
standards, in our own words; rows a regulation asks for by name carry a **®**. Tests carry the numbers of the
rows they show ({tests} so far) and run with `make test` or, the slow tier, with `make test-slow`; a test that
names a number that does not exist fails. A test is given by its file and its name in words: [test_x.py]: *a
repeat moves nothing* is `test_a_repeat_moves_nothing` of that file.

This page follows claims to tests; it certifies nothing, and nothing in it claims conformity with a standard
whose text was not read ([sources](#sources)).

* **shown**: at least one test shows the row, and nothing is known to be left.
* **in part**: tests show some of it; the row says what is left.
* **open**: no test shows it, and the row says why.
* **not yet**: no test shows it yet."""


def summary(requirements: Requirements, evidence: Evidence) -> str:
    """How many rows of each group have come how far."""

    def line(title: str, rows: Iterable[Row]) -> list[str]:
        counts = Counter(evidence.status(row) for row in rows)
        return [title, str(counts.total()), *(str(counts[status]) for status in Status)]

    rows = tuple(requirements.rows.values())
    lines = [
        line(f"[{letter}](#{letter.lower()}) {name}", requirements.in_group(letter))
        for letter, name in requirements.groups.items()
    ]
    lines.append(line("**All**", rows))
    lines.append(line("**Asked for by a regulation ®**", (row for row in rows if row.regulation)))
    head = ["Group", "Rows", *(status.capitalize() for status in Status)]
    return "## Summary\n\n" + table(head, lines, frozenset(range(1, len(head))))


def regulations(requirements: Requirements, evidence: Evidence) -> str:
    """Each provision of the regulations that touches a machine: the rows that carry it and their tests."""
    parts = ["## The regulations, provision by provision"]
    for source in requirements.sources.values():
        lines = []
        for provision in requirements.provisions:
            if provision.citation.source != source:
                continue
            rows = [requirements.rows[name] for name in provision.rows]
            states = "<br>".join(f"{_link(row)} {_state(evidence.status(row))}" for row in rows)
            tests = {test for row in rows for test in evidence.of(row.id)}
            shown = witnesses(sorted(tests))
            lines.append([provision.citation.clause, provision.about, states or provision.note, shown])
        if lines:
            parts += [f"### {source.title}", table(["Provision", "About", "Rows", "Tests"], lines)]
    return "\n\n".join(parts)


def groups(requirements: Requirements, evidence: Evidence) -> str:
    """Every requirement with its source and its evidence, group by group."""
    parts = ["## The requirements"]
    for letter, name in requirements.groups.items():
        lines = [
            [
                f'<a id="{row.id.lower()}"></a>{row.id}{" **®**" if row.regulation else ""}',
                row.text,
                "; ".join([*_cited(row.citations), *(_link(requirements.rows[other]) for other in row.see)]),
                _evidence(row, evidence),
            ]
            for row in requirements.in_group(letter)
        ]
        parts.append(f'### <a id="{letter.lower()}"></a>{letter}. {name}')
        parts.append(table(["No.", "Requirement", "Source", "Evidence"], lines))
    return "\n\n".join(parts)


def sources(requirements: Requirements, evidence: Evidence) -> str:  # noqa: ARG001 (a Section)
    """What each source key stands for, and how much of the text was read."""
    words = {
        "full": "in full",
        "part": "in part",
        "titles": "titles and contents only",
        "secondary": "a report about it",
    }
    lines = [
        [
            f"{source.key}{' **®**' if source.regulation else ''}",
            source.title,
            "; ".join(filter(None, [words[source.seen], source.note])),
        ]
        for source in requirements.sources.values()
    ]
    return "## Sources\n\n" + table(["Key", "Text", "Read"], lines)


#: the page, top to bottom; a protocol's table is one more section
SECTIONS: Final[tuple[Section, ...]] = (introduction, summary, regulations, groups, sources)


def _link(row: Row) -> str:
    return f"[{row.id}](#{row.id.lower()})"


def _state(status: Status) -> str:
    return f"**{status}**" if status is Status.SHOWN else str(status)


def _cited(citations: Iterable[Citation]) -> list[str]:
    return [f"**{citation}**" if citation.source.regulation else str(citation) for citation in citations]


def _evidence(row: Row, evidence: Evidence) -> str:
    tests = witnesses(evidence.of(row.id))
    match evidence.status(row):
        case Status.SHOWN:
            return tests
        case Status.IN_PART:
            return f"{tests}<br>*In part:* {row.open}"
        case Status.OPEN:
            return f"*Open:* {row.open}"
        case Status.NOT_YET:
            return "*not yet*"


def witnesses(tests: Sequence[Witness], root: str = "") -> str:
    """Tests as they stand in a cell; ``root`` leads from the page's folder to the checkout's."""
    lines = "<br>".join(_test(test, root) for test in tests)
    if len(tests) <= _UNFOLDED:
        return lines
    return f"<details><summary>{len(tests)} tests</summary>{lines}</details>"


def _test(test: Witness, root: str) -> str:
    tier = " (slow tier)" if test.slow else ""
    return f"[{test.file.rpartition('/')[2]}]({root}{test.file}): *{_words(test.name)}*{tier}"


def _words(name: str) -> str:
    """``TestLossyLine::test_a_bill_is_stacked`` as "LossyLine: a bill is stacked"."""
    pieces = (piece.removeprefix("test_").removeprefix("Test") for piece in name.split("::"))
    return ": ".join(pieces).replace("_", " ")
