"""The file of requirements: whole, consistent, and refused with a reason where it is not."""

import re
from pathlib import Path

import pytest

from tools.dev.conformance.requirements import REQUIREMENTS, RequirementsError, load

#: rows of each group when the requirements were numbered; a row may be added, never dropped
NUMBERED = dict(
    zip(
        "ABCDEFGHIJKLMNOPQR",
        (28, 18, 26, 25, 14, 20, 17, 16, 20, 19, 15, 10, 19, 10, 7, 11, 22, 11),
        strict=True,
    )
)

SMALL = """
[groups]
A = "Memory"
[sources]
QC = { title = "By-law", seen = "full", regulation = true }
NZ = { title = "Standard", seen = "part" }
[[provisions]]
provision = "QC s.95"
about = "a defective machine"
rows = ["A-01"]
[rows.A-01]
text = "A wager on a defective machine is refunded."
sources = ["QC s.95"]
jurisdictions = ["QC"]
[rows.A-02]
text = "Copies are checked."
sources = ["NZ 1.15"]
see = ["A-01"]
jurisdictions = ["NZ"]
"""


def test_no_row_that_was_numbered_has_been_dropped():
    requirements = load()
    assert sum(NUMBERED.values()) == 308
    assert requirements.groups.keys() == NUMBERED.keys()
    for letter, rows in NUMBERED.items():
        assert len(requirements.in_group(letter)) >= rows


def test_every_source_is_cited_and_every_text_is_one_sentence():
    requirements = load()
    rows = requirements.rows.values()
    assert {citation.source.key for row in rows for citation in row.citations} == requirements.sources.keys()
    for row in rows:
        assert row.text.endswith("."), row.id
        assert not re.search(r"[a-z]\. [A-Z]", row.text), f"{row.id} has a second sentence"
        assert len(row.text) <= 260, row.id


def test_the_machine_sections_of_the_regulations_are_all_traced():
    traced = {str(provision.citation) for provision in load().provisions}
    sections = [*range(1, 6), *range(73, 96), *range(117, 128)]
    assert {f"QC s.{number}" for number in sections} <= traced
    articles = ["16", "18", *(f"19.{n}" for n in range(1, 8)), *(f"20.{n}" for n in range(1, 4))]
    articles += [*(f"21.{n}" for n in range(1, 5)), "22", "23", "23-1", "23-2", "24"]
    assert {f"MC art.{number}" for number in articles} <= traced


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "requirements.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_small_file_reads_back(written):
    requirements = load(written(SMALL))
    first, second = requirements.rows.values()
    assert (first.regulation, second.regulation) == (True, False)
    assert [str(citation) for citation in second.citations] == ["NZ 1.15"]
    assert requirements.provisions[0].rows == ("A-01",)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('about = "a defective machine"', "about = ", "Invalid value"),
        ("[groups]\nA", "[groups]\nB", "group B"),
        ("[rows.A-02]", "[rows.A-03]", "not numbered 1, 2, 3"),
        ("[rows.A-02]", "[rows.A-1]", "a letter, a dash and two digits"),
        ('see = ["A-01"]', 'see = ["A-09"]', "A-09"),
        ('see = ["A-01"]', 'see = ["A-02"]', "not another row"),
        ('sources = ["NZ 1.15"]\nsee = ["A-01"]', "", "needs a source"),
        ('sources = ["NZ 1.15"]', 'sources = ["XX 1.15"]', "'XX'"),
        ('sources = ["NZ 1.15"]', 'sources = ["QC s.96"]', "cites QC s.96, whose provision does not list it"),
        ('text = "Copies are checked."', "", "text"),
        ('text = "Copies are checked."', 'text = " "', "must not be empty"),
        ('seen = "part"', 'seen = "somewhat"', "somewhat"),
        ('title = "Standard", ', "", "title"),
        ('rows = ["A-01"]', 'rows = ["A-07"]', "A-07"),
        ('rows = ["A-01"]', "rows = []", "needs a note"),
        ('provision = "QC s.95"', 'provision = "NZ 1.15"', "not marked as a regulation"),
        (
            "[[provisions]]",
            '[[provisions]]\nprovision = "QC s.95"\nabout = "x"\nrows = ["A-01"]\n[[provisions]]',
            "twice",
        ),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(written, old, new, reason):
    assert old in SMALL
    path = written(SMALL.replace(old, new, 1))
    with pytest.raises(RequirementsError, match=re.escape(reason)) as refused:
        load(path)
    assert str(path) in str(refused.value)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(RequirementsError, match=r"absent\.toml"):
        load(tmp_path / "absent.toml")


def test_the_file_lies_beside_the_tests_that_check_it():
    assert REQUIREMENTS.parent == Path(__file__).parent
