"""``egm tournament`` checks a rules file against the by-law, and prints the notice and the settlement."""

import json
import re
import tomllib

import pytest
from click.testing import CliRunner

from paytables import load_game
from paytables.definition import LIBRARY_FOLDER
from tests.rigs.tournament import RULES, change_rules
from tools.cli.commands.tournament import command

LET_IT_RIDE = (
    ('"maple-classic"', '"quebec-let-it-ride"'),
    ("fee_cents = 5000", "fee_cents = 30"),
    ("amount_cents = 1000", "amount_cents = 1"),
)


@pytest.fixture
def rules(tmp_path):
    """Return a function that writes a rules file with changes and returns its path."""

    def write(*changes):
        file = tmp_path / "rules.toml"
        file.write_text(change_rules(*changes), encoding="utf-8")
        return file

    return write


@pytest.fixture
def results(tmp_path):
    """Return a function that writes a results file and returns its path."""

    def write(entries):
        file = tmp_path / "results.json"
        file.write_text(entries if isinstance(entries, str) else json.dumps({"entries": entries}))
        return file

    return write


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def check(file, today="2027-02-01"):
    return run("check", file, "--today", today)


def play(*rows):
    """Return entries from rows of a participant and the points of each round."""
    return [
        {"entry": n, "participant": name, "rounds": [{"points": point} for point in points]}
        for n, (name, *points) in enumerate(rows, 1)
    ]


@pytest.mark.requirement("L-08")
def test_each_machines_return_is_compared_with_those_of_all_others(rules, tmp_path, monkeypatch):
    """The second machine returns 0.7 % more and the third 0.7 % less than the first: too great a difference."""
    source, games = (LIBRARY_FOLDER / "maple-classic.toml").read_text(encoding="utf-8"), {}
    for name, pays in {"maple-classic": 600, "maple-more": 700, "maple-less": 500}.items():
        file = tmp_path / f"{name}.toml"
        changed = source.replace("3 = 500", f"3 = {pays}").replace('id = "maple-classic"', f'id = "{name}"')
        file.write_text(changed, encoding="utf-8")
        games[name] = load_game(file)
    monkeypatch.setattr("egm.features.tournament.rules.load_game", games.__getitem__)
    second, third = (
        (f'number = "A-10{n}"', f'number = "A-10{n}"\ngame = "{name}"')
        for n, name in ((2, "maple-more"), (3, "maple-less"))
    )
    tables_text = '[[machines]]\nnumber = "A-103"\ndenomination_cents = 100\nbet = 3\n\n[[prizes]]'
    assert check(rules(second)).exit_code == 0
    result = check(rules(second, ("[[prizes]]", tables_text), third))
    assert result.exit_code == 1, result.output
    assert "machines[3].game" in result.output
    assert "and maple-more returns" in result.output


THREE = (("P-1", 90, 40), ("P-2", 80, 50), ("P-3", 70))


@pytest.mark.requirement("L-03")
def test_complete_rules_are_accepted(rules):
    result = check(rules())
    assert result.exit_code == 0, result.output
    assert "every number of entries from 3 to 80, at least 30 %" in result.output


def test_the_example_rules_explain_every_key_and_are_accepted(tmp_path):
    file = tmp_path / "own.toml"
    result = run("new", file)
    assert (result.exit_code, f"egm tournament check {file}" in result.output) == (0, True)
    assert check(file).exit_code == 0
    lines = file.read_text(encoding="utf-8").splitlines()
    first = {line.split(" =")[0]: n for n, line in reversed([*enumerate(lines)]) if re.match(r"\w+ =", line)}
    assert [key for key, n in first.items() if not lines[n - 1].startswith("# ")] == []
    assert tomllib.loads("\n".join(lines)) == tomllib.loads(RULES)
    repeated = run("new", file)
    assert (repeated.exit_code, "exists and was not changed" in repeated.output) == (1, True)


#: A change of the rules, with the key and the reason of the refusal.
REFUSED = {
    "no start": (("starts = 2027-03-08T19:00:00\n", ""), "starts: must be given: The date and time of the start"),
    "no length": (("duration_minutes = 180\n", ""), "duration_minutes: must be given: How long"),
    "no participation": (
        (next(line for line in RULES.splitlines() if line.startswith("participation")), ""),
        "line 15: entries.participation: must be given: The rules of participation",
    ),
    "one language": ((', fr = "Grande salle"', ""), "line 2: venue.fr: must be given"),
    "no ties rule": (('ties = "share"\n', ""), "ties: must be given"),
    "no rule for faults": (('interrupted = "replay"\n', ""), "interrupted: must be given"),
    "no rule for failures": (('failed = "zero-points"\n', ""), "failed: must be given"),
    "no rule for remainders": (('remainders = "best-rank"\n', ""), "remainders: must be given"),
    "no prizes": ((RULES[RULES.index("[[prizes]]") :], ""), "prizes: must be given"),
    "a prize of nothing": (("amount_cents = 1000", ""), "prizes[3]: give the prize as share or as amount_cents"),
    "a prize of two kinds": (("rank = 3", 'rank = 3\nshare = "1/9"'), "prizes[3]: give the prize as share or"),
    "unknown key": (("fee_cents", "fe_cents"), "line 16: entries.fe_cents: there is no such key; did you mean fee_cents?"),
    "unknown word": (('ties = "share"', 'ties = "shares"'), "line 9: ties: 'shares' is not allowed; did you mean share?"),
    "negative fee": (("fee_cents = 5000", "fee_cents = -1"), "entries.fee_cents: must be greater than 0, not -1"),
    "fractional fee": (("fee_cents = 5000", "fee_cents = 50.5"), "entries.fee_cents: must be a whole number, not 50.5"),
    "negative prize": (("amount_cents = 1000", "amount_cents = -5"), "prizes[3].amount_cents: must be greater than 0"),
    "fractional prize": (("amount_cents = 1000", "amount_cents = 0.5"), "prizes[3].amount_cents: must be a whole number, not 0.5"),
    "negative share": (('"1/4"', '"-1/4"'), "prizes[1].share: -1/4 is not a part of the fees"),
    "share as a float": (('"1/4"', "0.25"), "prizes[1].share: 0.25 is not an exact number"),
    "more than all fees": (('"1/4"', '"99/100"'), "prizes: the shares make 104.00 % of the fees sold"),
    "share of too many parts": (('"1/4"', '"1/1000001"'), "prizes[1].share: its denominator is more than 1,000,000"),
    "spaces around a number": (('"A-102"', '" A-102"'), "machines[2].number: ' A-102' begins or ends with a space"),
    "ranks out of order": (("rank = 2", "rank = 3"), "prizes[2].rank: prizes are in the order of the ranks: 2, not 3"),
    "start without a time": (("2027-03-08T19:00:00", "2027-03-08"), "line 4: starts: must be a date and a time"),
    "publication with a time": (("2027-03-01", "2027-03-01T10:00:00"), "published: must be a date without a time"),
    "registration too late": (("18:30", "19:30"), "line 20: entries.closes: it is after the start"),
    "places": (("participants_min = 3", "participants_min = 41"), "line 17: entries.participants_min: is 41; expected at most participants_max, 40"),
    "games and minutes": (("games = 100", "games = 100\nminutes = 5"), "rounds[1]: give its length as games or as"),
    "neither": (("games = 100\n", ""), "rounds[1]: give its length as games or as minutes"),
    "nobody goes on": (("advance = 2\n", ""), "rounds[1].advance: must be given"),
    "too many go on": (("advance = 2", "advance = 41"), "rounds[1].advance: is 41, but only 40 participants"),
    "on from the last": (("minutes = 20", "minutes = 20\nadvance = 1"), "rounds[2].advance: the last round must not have this key"),
    "too few points": (("points = 300", "points = 2"), "rounds[1].points: 2 points are less than one wager of 3"),
    "too long": (("minutes = 20", "minutes = 200"), "line 5: duration_minutes: the rounds last 200 minutes"),
    "machine listed twice": (("A-102", "A-101"), "machines[2].number: A-101 is listed twice"),
    "no such game": (('"maple-classic"', '"mapel-classic"'), "line 3: game: mapel-classic: not in the library; did you"),
    "game by path": (('"maple-classic"', '"./own.toml"'), "line 3: game: ./own.toml is a file, not the id"),
    "published late": (
        ("2027-03-01", "2027-03-02"),
        "line 6: published: 2027-03-02 is less than a week before the start on 2027-03-08: publish by 2027-03-01 (s. 125)",
    ),
    "too little returned": (
        ('"1/20"', '"1/50"'),
        "line 42: prizes: with 7 entries sold and 4 participants ranked the prizes are 10450 of 35000 cents",
    ),
    "denominations": (
        ("denomination_cents = 100\nbet = 3\n\n[[prizes", "denomination_cents = 25\nbet = 3\n\n[[prizes"),
        "machines[2].denomination_cents: 25 differs from 100 of machine A-101",
    ),
    "denomination of no game": (("denomination_cents = 100", "denomination_cents = 7"), "maple-classic has no credit of 7"),
    "bets": (("bet = 3\n\n[[prizes", "bet = 2\n\n[[prizes"), "machines[2].bet: 2 differs from 3 of machine A-101"),
    "returns": (
        ("bet = 3\n\n[[prizes", 'bet = 3\ngame = "maple-classic-95"\n\n[[prizes'),
        "machines[2].game: maple-classic-95 returns",
    ),
    "other game": (
        ("bet = 3\n\n[[prizes", 'bet = 3\ngame = "quebec-blackjack"\n\n[[prizes'),
        "machines[2].game: quebec-blackjack does not have the bets of maple-classic",
    ),
}  # fmt: skip


#: Machines of one tournament must be equal in these.
UNEQUAL = {"denominations", "bets", "returns", "other game"}


@pytest.mark.requirement("L-03", "L-05", "R-09")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.requirement("L-08") if case in UNEQUAL else ())
        for case in REFUSED
    ],
)
def test_invalid_rules_are_refused_with_the_key_and_the_reason(rules, case):
    change, expected_text = REFUSED[case]
    file = rules(change)
    result = check(file)
    assert result.exit_code == 1
    assert f"tournament rules {file}: " in result.output
    assert expected_text in result.output
    assert run("notice", file, "--today", "2027-02-01").exit_code == 1


@pytest.mark.requirement("L-03")
def test_unpublished_rules_must_leave_a_week_until_the_tournament(rules):
    file = rules(("published = 2027-03-01\n", ""))
    assert check(file, "2027-03-01").exit_code == 0
    late = check(file, "2027-03-02")
    assert late.exit_code == 1
    assert "must be public a week before it, by 2027-03-01 (s. 125)" in late.output


@pytest.mark.requirement("L-02:b")
@pytest.mark.parametrize(
    ("fee", "expected_text"),
    [
        (29, "29 is less than 30 % of the side bet"),
        (30, ""),
        (100, ""),
        (101, "101 is more than the side bet"),
    ],
)
def test_the_fee_of_let_it_ride_is_at_least_30_percent_of_its_side_bet(rules, fee, expected_text):
    file = rules(*LET_IT_RIDE, ("fee_cents = 30", f"fee_cents = {fee}"))
    result = check(file)
    assert (result.exit_code, expected_text in result.output) == (1 if expected_text else 0, True), (
        result.output
    )
    if not expected_text:
        notice = run("notice", file, "--today", "2027-02-01", "--language", "fr").output
        assert "prélevé sur la mise supplémentaire de 1,00\xa0$" in re.sub(r"[ \n]+", " ", notice)


@pytest.mark.requirement("L-03")
@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ["Monday, March 1, 2027", "Monday, March 8, 2027", "180 minutes", "Open to adults.", "$50.00", "A-101, A-102",
                "40 participants", "up to 2 entries", "100 games", "20 minutes", "Rank 1: 25\xa0%", "Rank 3: $10.00",
                "share the prizes of their ranks", "At least 30 %", "best rank", "played again",
                "shared equally among all who have a rank", "rounded up to a whole cent"]),
        ("fr", ["lundi 1er mars 2027", "lundi 8 mars 2027", "180 minutes", "Pour adultes.", "50,00\xa0$", "A-101, A-102",
                "40 participants", "jusqu\u2019à 2 inscriptions", "100 parties", "20 minutes", "Rang 1\xa0: 25\xa0%", "10,00\xa0$",
                "se partagent également", "Au moins 30\xa0%", "meilleur rang", "rejouée",
                "partagés également entre tous ceux qui ont un rang", "arrondies au cent supérieur"]),
    ],
)  # fmt: skip
def test_the_notice_is_complete_in_both_languages(rules, language, texts):
    result = run("notice", rules(), "--language", language, "--today", "2027-02-01")
    assert result.exit_code == 0, result.output
    output = re.sub(r"[ \n]+", " ", result.output)
    assert [text for text in texts if text not in output] == []


@pytest.mark.requirement("L-03")
def test_the_notice_states_how_unclaimed_prizes_and_odd_cents_are_divided(rules):
    file = rules(
        ('unclaimed = "shared"', 'unclaimed = "not-awarded"'),
        ('remainders = "best-rank"', 'remainders = "in-order"'),
    )
    output = re.sub(r"[ \n]+", " ", run("notice", file, "--today", "2027-02-01").output)
    assert "Prizes of ranks that nobody has are not awarded." in output
    assert "go one each to the ranks from the best down" in output


@pytest.mark.requirement("L-05")
def test_standings_and_prizes_are_printed_to_the_cent(rules, results):
    result = run("settle", rules(), results(play(*THREE)), "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)
    rows = [
        (ranking["rank"], ranking["participant"], ranking["prize_cents"]) for ranking in report["standings"]
    ]
    assert rows == [(1, "P-2", 3750), (2, "P-1", 750), (3, "P-3", 1000)]
    assert (report["sold_cents"], report["prizes_cents"], report["returned_share"]) == (15000, 5500, "11/30")
    text = run("settle", rules(), results(play(*THREE))).output
    assert "Returned: 5,500 cents, 36.66% of the retained fees." in text


@pytest.mark.requirement("L-05", "R-09")
def test_prizes_below_30_percent_are_refused_with_the_amount_to_add(rules, results):
    file, played = rules(('"1/4"', '"1/100"')), results(play(*THREE))
    result = run("settle", file, played)
    assert result.exit_code == 1
    assert "the prizes are 1,900 of 15,000 cents" in result.output
    assert "add at least 2,600 cents (--add 2600)" in result.output
    assert "add at least 1 cent (--add 2600)" in run("settle", file, played, "--add", "2599").output
    added = run("settle", file, played, "--add", "2600", "--json")
    assert json.loads(added.output)["returned_share"] == "3/10"


def test_a_cancelled_tournament_refunds_every_fee(rules, results):
    report = json.loads(run("settle", rules(), results(play(("P-1",), ("P-2",))), "--json").output)
    assert (report["cancelled"], report["sold_cents"], report["refunded_cents"]) == (True, 0, 10000)
    assert report["standings"] == []
    assert "Cancelled: fewer than 3 participants" in run("settle", rules(), results(play(("P-1",)))).output


ENTRY = {"entry": 1, "participant": "P-1", "rounds": []}
BAD_RESULTS = {
    "not JSON": ("{", "not JSON"),
    "key twice": ('{"entries": [], "entries": []}', "a key is given twice"),
    "unknown key": ([{**ENTRY, "prize": 3}], "entries[1].prize: Extra inputs are not permitted"),
    "negative points": (play(("P-1", -1)), "entries[1].rounds[1].points"),
    "fractional points": ('{"entries": [{"entry": 1, "participant": "P", "rounds": [{"points": 1.5}]}]}',
                          "entries[1].rounds[1].points"),
    "entry twice": ([ENTRY, ENTRY], "entry 1 is given twice"),
    "too many entries": (play(("P-1", 1), ("P-1", 1), ("P-1", 1)), "entry 3: participant P-1 has 3 entries; the rules allow 2"),
    "too many participants": (play(*((f"P-{n}", 1) for n in range(41))), "there are 41 participants"),
    "round missing": (play(("P-1", 9, 1), ("P-2", 8, 1), ("P-3",)), "entry 3: round 1: its result is missing"),
    "final missing": (play(("P-1", 9, 1), ("P-2", 8), ("P-3", 7)), "entry 2: round 2: its result is missing"),
    "round not reached": (play(("P-1", 9, 1), ("P-2", 8, 1), ("P-3", 7, 5)), "entry 3: round 2: it did not qualify"),
    "not replayed": ([*play(*THREE[:2]), {"entry": 3, "participant": "P-3", "rounds": [{"points": 1, "status": "interrupted"}]}],
                     "entry 3: round 1: it was interrupted: by the rules it is replayed"),
    "best game too large": ([*play(*THREE[:2]), {"entry": 3, "participant": "P-3", "rounds": [{"points": 1, "best_game": 2}]}],
                            "best_game 2 is more than its 1 points"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_RESULTS)
def test_results_that_do_not_fit_the_rules_are_refused_by_entry_and_round(rules, results, case):
    entries, expected_text = BAD_RESULTS[case]
    result = run("settle", rules(), results(entries))
    assert result.exit_code == 1
    assert expected_text in result.output


def test_a_tie_decided_by_the_best_game_requires_it_in_the_results(rules, results):
    result = run("settle", rules(('ties = "share"', 'ties = "best-game"')), results(play(*THREE)))
    assert "entry 1: round 1: best_game is missing" in result.output


@pytest.mark.requirement("L-09")
def test_lawful_but_possibly_unintended_prizes_are_remarked(rules):
    result = check(rules())
    assert result.exit_code == 0
    assert "Remark: with 3 entries, rank 3 wins 1,000 cents, more than the 750 of rank 2." in result.output
    assert "the venue pays the difference" not in result.output
    result = check(
        rules(("participants_min = 3", "participants_min = 4"), ('share = "1/4"', 'share = "19/20"'))
    )
    assert "rank 3 wins" not in result.output
    assert "with 4 entries, the prizes are 21,000 cents, more than the 20,000 of the fees" in result.output
    result = check(rules(('share = "1/4"', "amount_cents = 6000"), ("amount_cents = 1000", 'share = "1/4"')))
    assert "with 3 entries, rank 3 wins 3,750 cents, more than the 750 of rank 2" in result.output
