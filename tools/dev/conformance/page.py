"""Format ``CONFORMANCE.md`` (the summary and the open rows) and one page per group."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from tools.dev.conformance.evidence import Evidence, EvidenceTest, Status
from tools.dev.conformance.requirements import REASONS_WITHOUT_ROW, Citation, RequirementRow, Requirements
from tools.lab.markdown import format_table

#: Maximum number of tests in a cell; more are folded behind their count.
_TESTS_SHOWN_MAX: Final = 3
#: Folder of the pages that are too long to be committed, and the path from there to the root.
PAGES_FOLDER: Final = "build/conformance"
_PATH_TO_ROOT: Final = "../../"
#: Heading of the rows that are not fully shown.
NOT_FULLY_SHOWN_HEADING: Final = "## Not fully shown"


def format_pages(requirements: Requirements, evidence: Evidence) -> dict[str, str]:
    """Return the text of every page by its path in the checkout: the summary, which is committed, and the others."""
    groups = {
        f"{PAGES_FOLDER}/{letter}.md": format_group(letter, requirements, evidence)
        for letter in requirements.groups
    }
    return {
        "CONFORMANCE.md": format_summary(requirements, evidence),
        f"{PAGES_FOLDER}/regulations.md": format_regulations(requirements, evidence),
        f"{PAGES_FOLDER}/sources.md": format_sources(requirements),
        **groups,
    }


def format_summary(requirements: Requirements, evidence: Evidence) -> str:
    """Return the summary page: what the statuses mean, the progress of each group, and what remains to be done."""

    def build_line(title: str, rows: Iterable[RequirementRow]) -> list[str]:
        counts = Counter(evidence.status(row) for row in rows)
        return [title, str(counts.total()), *(str(counts[status]) for status in Status)]

    rows = tuple(requirements.rows.values())
    lines = [
        build_line(f"{letter}. {name}", requirements.list_rows_of_group(letter))
        for letter, name in requirements.groups.items()
    ]
    lines.append(build_line("**All**", rows))
    lines.append(
        build_line("**Asked for by a regulation ®**", (row for row in rows if row.is_required_by_regulation))
    )
    headings = ["Group", "Rows", *(status.capitalize() for status in Status)]
    return f"""\
# Conformance

This page counts which requirements are shown by tests, and gives the reason for each one that is not. It is a
self-assessment. It certifies nothing, and claims no conformity with a standard whose text was not read.

The {len(rows)} numbered requirements in `tests/conformance/requirements.toml` are taken from regulations and public
technical standards, in our own words. **®** marks a requirement of a regulation. Each test names the
requirements that it shows. The states are:

* **shown**: tests of the product (its engine or a command) show every clause.
* **in part**: tests show some of it. The reason says what is missing.
* **library only**: implemented and tested, but not used by the engine or a command. It counts as not shown.
* **open**: the machine cannot or need not show it. The reason says why.
* **not yet**: nothing shows it yet. The reason says what is missing.

{format_table(headings, lines, frozenset(range(1, len(headings))))}

`make conformance` writes this page. It also writes to `{PAGES_FOLDER}/`: one page per group with each requirement, its
sources and its tests; `regulations.md` with each provision of the regulations; and `sources.md`, which states how
much of each text was read. `make mutants` breaks what each ® requirement asks for, one at a time, and fails if
the tests of that requirement still pass.

{NOT_FULLY_SHOWN_HEADING}

{format_open_rows(requirements, evidence)}
"""


def format_open_rows(requirements: Requirements, evidence: Evidence) -> str:
    """Return a table of the requirements that are not fully shown, with the reason.

    Requirements with the same reason share a line.
    """
    rows_by_status_and_reason: dict[tuple[Status, str], list[RequirementRow]] = {}
    for row in requirements.rows.values():
        status = evidence.status(row)
        if status is not Status.SHOWN:
            rows_by_status_and_reason.setdefault((status, row.reasons_not_shown), []).append(row)
    lines = [
        [
            ", ".join(f"{row.id}{' **®**' if row.is_required_by_regulation else ''}" for row in rows),
            str(status),
            reason,
        ]
        for (status, reason), rows in rows_by_status_and_reason.items()
    ]
    return format_table(["No.", "State", "Reason"], lines)


def format_regulations(requirements: Requirements, evidence: Evidence) -> str:
    """Return each provision of the regulations with its rows and tests, or why it does not apply to a machine."""
    parts = ["# The regulations, provision by provision"]
    for source in requirements.sources.values():
        lines = []
        for provision in requirements.provisions:
            if provision.citation.source != source:
                continue
            rows = [requirements.rows[name] for name in provision.rows]
            states_text = "<br>".join(
                f"{_format_link(row)} {_format_status(evidence.status(row))}" for row in rows
            )
            tests = {test for row in rows for test in evidence.list_tests(row.id)}
            tests_text = format_tests(sorted(tests), _PATH_TO_ROOT)
            exemption_text = (
                f"*not for a machine*: {REASONS_WITHOUT_ROW[provision.no_machine]}"
                if provision.no_machine
                else ""
            )
            notes = "<br>".join(filter(None, (states_text, exemption_text)))
            lines.append([provision.citation.clause, provision.about, notes, tests_text])
        if lines:
            parts += [f"## {source.title}", format_table(["Provision", "About", "Rows", "Tests"], lines)]
    return "\n\n".join(parts) + "\n"


def format_group(letter: str, requirements: Requirements, evidence: Evidence) -> str:
    """Return the requirements of one group, each with its sources and evidence."""
    lines = [
        [
            f'<a id="{row.id.lower()}"></a>{row.id}{" **®**" if row.is_required_by_regulation else ""}',
            _format_row_text(row, evidence),
            "; ".join(
                [
                    *_format_citations(row.citations),
                    *(_format_link(requirements.rows[other]) for other in row.see),
                ]
            ),
            _format_evidence(row, evidence),
        ]
        for row in requirements.list_rows_of_group(letter)
    ]
    heading = f"# {letter}. {requirements.groups[letter]}"
    note = "A test is named by its file and its description: [test_x.py]: *a repeat moves nothing*."
    return (
        "\n\n".join([heading, note, format_table(["No.", "Requirement", "Source", "Evidence"], lines)]) + "\n"
    )


def format_sources(requirements: Requirements) -> str:
    """Return a table of the sources of requirements: what each key stands for, and how much of the text was read."""
    text_by_extent = {
        "full": "in full",
        "part": "in part",
        "titles": "titles and contents only",
        "secondary": "a report about it",
    }
    lines = [
        [
            f"{source.key}{' **®**' if source.regulation else ''}",
            source.title,
            "; ".join(filter(None, [text_by_extent[source.seen], source.note])),
        ]
        for source in requirements.sources.values()
    ]
    return "# Sources\n\n" + format_table(["Key", "Text", "Read"], lines) + "\n"


def _format_link(row: RequirementRow) -> str:
    return f"[{row.id}]({row.group}.md#{row.id.lower()})"


def _format_status(status: Status) -> str:
    return f"**{status}**" if status is Status.SHOWN else str(status)


def _format_citations(citations: Iterable[Citation]) -> list[str]:
    return [f"**{citation}**" if citation.source.regulation else str(citation) for citation in citations]


def _format_row_text(row: RequirementRow, evidence: Evidence) -> str:
    """Return the requirement and each of its clauses with its progress."""
    clauses = zip(row.marks, row.clauses, strict=bool(row.clauses))
    return "<br>".join(
        [
            row.text,
            *(
                f"*{mark}* {text}: {'shown' if evidence.list_tests(mark) else 'not shown'}"
                for mark, text in clauses
            ),
        ]
    )


def _format_evidence(row: RequirementRow, evidence: Evidence) -> str:
    status = evidence.status(row)
    tests = (
        evidence.tests_of_unused_modules.get(row.id, ())
        if status is Status.LIBRARY
        else evidence.list_tests(row.id)
    )
    reason = "" if status is Status.SHOWN else f"*{status.capitalize()}:* {row.reasons_not_shown}"
    mutants_text = (
        f"*{len(row.mutants)} mutants*" if len(row.mutants) > 1 else "*1 mutant*" if row.mutants else ""
    )
    return "<br>".join(filter(None, (format_tests(tests, _PATH_TO_ROOT), mutants_text, reason)))


def format_tests(tests: Sequence[EvidenceTest], root: str = "") -> str:
    """Return tests formatted for a table cell; ``root`` leads from the page's folder to the checkout's root."""
    lines = "<br>".join(_format_test(test, root) for test in tests)
    if len(tests) <= _TESTS_SHOWN_MAX:
        return lines
    return f"<details><summary>{len(tests)} tests</summary>{lines}</details>"


def _format_test(test: EvidenceTest, root: str) -> str:
    tier = " (slow tier)" if test.is_slow else ""
    return f"[{test.file.rpartition('/')[2]}]({root}{test.file}): *{_format_test_name(test.name)}*{tier}"


def _format_test_name(name: str) -> str:
    """Format ``TestLossyLine::test_a_bill_is_stacked`` as "LossyLine: a bill is stacked"."""
    pieces = (piece.removeprefix("test_").removeprefix("Test") for piece in name.split("::"))
    return ": ".join(pieces).replace("_", " ")
