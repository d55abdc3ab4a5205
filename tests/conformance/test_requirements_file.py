"""The file of requirements is complete and consistent; an invalid one is refused with a reason."""

import re
from pathlib import Path

import pytest

from tools.dev.conformance.absence import find_matches, list_false_reasons
from tools.dev.conformance.requirements import REASONS_WITHOUT_ROW, REQUIREMENTS_FILE, RequirementsError, load

#: rows of each group when the requirements were numbered; a row may be added, never dropped
NUMBERED = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRS",
        (28, 18, 26, 25, 14, 20, 17, 16, 20, 19, 15, 10, 19, 10, 7, 11, 22, 11, 55),
        strict=True,
    )
)

SMALL = """
[groups]
A = "Memory"
[sources]
QC = { title = "By-law", seen = "full", regulation = true }
NZ = { title = "Standard", seen = "part" }
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
PROVISIONS_FILE = """
[QC]
"s.95" = { about = "a defective machine", rows = ["A-01"] }
"s.96" = { about = "revoked", no_machine = "revoked" }
"""
SECTIONS_FILE = 'QC = "s.95 s.96"'


def test_no_numbered_requirement_was_removed():
    requirements = load()
    assert sum(NUMBERED.values()) == 363
    assert requirements.groups.keys() == NUMBERED.keys()
    for letter, rows in NUMBERED.items():
        assert len(requirements.list_rows_of_group(letter)) >= rows


def test_every_source_is_cited_and_every_text_is_one_sentence():
    requirements = load()
    rows = requirements.rows.values()
    assert {citation.source.key for row in rows for citation in row.citations} == requirements.sources.keys()
    for row in rows:
        assert row.text.endswith("."), row.id
        assert not re.search(r"[a-z]\. [A-Z]", row.text), f"{row.id} has a second sentence"
        assert len(row.text) <= 260, row.id


def test_every_section_of_every_regulation_has_requirements_or_a_reason():
    requirements = load()
    traced = {str(provision.citation): provision for provision in requirements.provisions}
    assert {key for key, source in requirements.sources.items() if source.regulation} == {
        provision.citation.source.key for provision in requirements.provisions
    }
    in_force = [
        name
        for name, provision in traced.items()
        if name.startswith("QC s.") and provision.no_machine != "revoked"
    ]
    assert len(in_force) == 271
    assert {
        f"QC s.67.{number}" for number in range(41, 111)
    } <= traced.keys()  # the text that the amendment inserts
    for provision in requirements.provisions:
        assert provision.rows or provision.no_machine in REASONS_WITHOUT_ROW


def test_the_product_lacks_what_the_reasons_say_it_lacks():
    assert list_false_reasons(load()) == []


@pytest.mark.parametrize(
    ("check", "matches"),
    [
        ("game roulette", ["roulette"]),
        ("game blackjack|.*-war", ["blackjack", "quebec-war"]),
        ("state tilt", ["tilt"]),
        ("profile language", []),
        ("command aud.t", ["audit"]),
        ("device wheel", ["wheel"]),
        ("literal voucher\\.in", ["voucher.in"]),
        ("import paytables.keno.printed_ticket", ["paytables.keno.printed_ticket"]),
    ],
)
def test_a_check_finds_what_the_product_has(check, matches):
    kind, _, pattern = check.partition(" ")
    assert find_matches(kind, pattern) == matches


def test_a_reason_that_is_no_longer_true_is_reported(written):
    row = SMALL.replace(
        'text = "Copies are checked."',
        'text = "Copies are checked."\nopen = "There is no roulette."\nabsent = ["game roulette", "game chess", "smell x"]',
    )
    false, unknown = list_false_reasons(load(written(row)))
    assert "A-02 says 'There is no roulette.', and 'game roulette' finds roulette" in false
    assert "'smell x' is not a check" in unknown


@pytest.fixture
def written(tmp_path):
    def write(text: str, provisions: str = PROVISIONS_FILE, sections: str = SECTIONS_FILE) -> Path:
        path = tmp_path / "requirements.toml"
        path.write_text(text, encoding="utf-8")
        (tmp_path / "provisions.toml").write_text(provisions, encoding="utf-8")
        (tmp_path / "sections.toml").write_text(sections, encoding="utf-8")
        return path

    return write


def test_a_small_file_reads_back(written):
    requirements = load(written(SMALL))
    first, second = requirements.rows.values()
    assert (first.is_required_by_regulation, second.is_required_by_regulation) == (True, False)
    assert [str(citation) for citation in second.citations] == ["NZ 1.15"]
    assert [provision.rows for provision in requirements.provisions] == [("A-01",), ()]


def test_a_requirement_may_be_cited_by_its_provision_alone(written):
    path = written(SMALL.replace('sources = ["QC s.95"]\n', ""))
    row = load(path).rows["A-01"]
    assert ([str(citation) for citation in row.citations], row.is_required_by_regulation) == (
        ["QC s.95"],
        True,
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('text = "A wager', "text = A wager", "Invalid value"),
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
        ('see = ["A-01"]', 'see = ["A-01"]\nopen = "There is no second medium."', "names no check"),
        ('see = ["A-01"]', 'see = ["A-01"]\nnot_yet = "The machine offers no copies."', "names no check"),
        ('see = ["A-01"]', 'see = ["A-01"]\nopen = "No profile says a width."', "names no check"),
        (
            'see = ["A-01"]',
            'see = ["A-01"]\nmutants = [{ file = "x.py", function = "f", takes_away = "it" }]',
            "a mutant changes a function, a key or a text",
        ),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(written, old, new, reason):
    assert old in SMALL
    path = written(SMALL.replace(old, new, 1))
    with pytest.raises(RequirementsError, match=re.escape(reason)) as raised:
        load(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('rows = ["A-01"]', 'rows = ["A-07"]', "A-07"),
        ('rows = ["A-01"]', "rows = []", "no machine's"),
        ('no_machine = "revoked"', 'no_machine = "unknown"', "'unknown' is no reason"),
        (
            '"s.96" = { about = "revoked", no_machine = "revoked" }',
            "",
            "no provision, and no reason, for s.96",
        ),
        ('"s.96" =', '"s.97" =', "no provision, and no reason, for s.96"),
        ('"s.96" =', '"s.96" = { about = "x", no_machine = "person" }\n"s.97" =', "the text has no s.97"),
        ('about = "revoked"', 'about = " "', "what it is about"),
        ("[QC]", "[NZ]", "not marked as a regulation"),
        ('"s.95" =', '"s.95" = { about = "x", rows = ["A-01"] }\n"s.95" =', "Cannot overwrite"),
        ("[QC]", '[MC]\n"art.1" = { about = "x", no_machine = "person" }\n[QC]', "'MC'"),
    ],
)
def test_an_incomplete_trace_is_refused(written, old, new, reason):
    assert old in PROVISIONS_FILE
    path = written(SMALL, provisions=PROVISIONS_FILE.replace(old, new, 1))
    with pytest.raises(RequirementsError, match=re.escape(reason)):
        load(path)


def test_a_regulation_without_a_list_of_its_sections_is_refused(written):
    path = written(SMALL, sections="")
    with pytest.raises(RequirementsError, match="the numbers of QC are not listed"):
        load(path)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(RequirementsError, match=r"absent\.toml"):
        load(tmp_path / "absent.toml")


def test_the_requirements_file_is_beside_its_tests():
    assert REQUIREMENTS_FILE.parent == Path(__file__).parent
