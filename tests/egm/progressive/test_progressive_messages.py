"""Messages of the link carry exact amounts as text; an invalid message is refused with the name of the fault."""

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from egm.config.levels import LevelScope
from egm.progressive import messages as m
from egm.progressive.definition import LevelFileError, create_level_source, create_levels, read_levels
from paytables import compute_mystery_rate, load_game

THREE = Path(__file__).parents[2] / "vectors" / "three-levels.toml"
FILE = {
    "level": [
        {
            "id": "harbour",
            "name": {"en": "Harbour", "fr": "Port"},
            "stake_cents": 50,
            "odds": "1/1234",
            "base_cents": 2500,
            "increment": "1/200",
            "hidden": "1/1000",
        }
    ]
}


@pytest.mark.parametrize(
    "message",
    [
        m.EnrolmentRequest(
            machine="EGM-1",
            nonce="n1",
            levels=(m.LevelEnrolment(level="a", stake_cents=5, odds=Fraction(1, 7)),),
        ),
        m.Contribution(machine="EGM-1", level="a", sequence=1, wager_cents=5, amount=Fraction(1, 40)),
        m.Claim(machine="EGM-1", level="a", claim="x:1", after=1, shown_cents=7),
        m.PaymentReport(machine="EGM-1", level="a", claim="x:1", amount_cents=7, way="hand"),
        m.LevelValue(level="a", sequence=4, time_utc="2026-01-01T00:00:00+00:00", amount_cents=7),
        m.Refusal(machine="EGM-1", reason=m.RefusalReason.CONTRIBUTIONS_MISSING, of="contribution", next=3),
    ],
)
def test_a_message_survives_encoding_and_decoding(message):
    read = (
        m.decode_machine_message
        if hasattr(message, "machine") and message.type != "refused"
        else m.decode_controller_message
    )
    assert read(m.encode(message)) == message


@pytest.mark.requirement("I-15")
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b'{"type":"award"}',
        b'{"type":"contribution","machine":"EGM-1","level":"a","sequence":1,"wager_cents":5,"amount":0.025}',
        b'{"type":"contribution","machine":"EGM-1","level":"a","sequence":0,"wager_cents":5,"amount":"1/40"}',
        b'{"type":"contribution","machine":"egm/+","level":"a","sequence":1,"wager_cents":5,"amount":"1/40"}',
        b'{"type":"contribution","machine":"EGM-1","level":"#","sequence":1,"wager_cents":5,"amount":"1/40"}',
        b'{"type":"commit","machine":"EGM-1","level":"a","claim":"x","amount_cents":1.0}',
        b"x" * (m.MESSAGE_BYTES_MAX + 1),
    ],
)
def test_an_invalid_message_is_refused(line):
    with pytest.raises(m.ProgressiveMessageError):
        m.decode_machine_message(line)


def test_a_level_file_is_read_as_levels():
    (level,) = create_levels(FILE, "levels.toml")
    assert (level.scope, level.terms.increment, level.stake_and_hit_rate.hit_rate) == (
        LevelScope.LINKED,
        Fraction(1, 200),
        Fraction(1, 1234),
    )


@pytest.mark.requirement("I-03")
def test_a_level_file_may_take_its_odds_from_the_game():
    entry = {key: value for key, value in FILE["level"][0].items() if key != "odds"}
    named = {"game": "lantern-harbour", "game_level": "harbour"}
    (level,) = create_levels({"level": [entry | named]}, "levels.toml")
    game = load_game("lantern-harbour")
    assert level.stake_and_hit_rate.hit_rate == game.list_levels(game.build_wager(10))[0].hit_rate
    for wrong, expected_text in (
        ({}, "odds"),
        (named | {"odds": "1/3"}, "odds"),
        ({"game": "lantern-harbour"}, "odds"),
        (named | {"game": "nowhere"}, "game"),
        (named | {"game_level": "bay"}, "game_level"),
        (named | {"stake_cents": 51}, "game_level"),
        (named | {"increment": "1/201"}, "increment"),
    ):
        with pytest.raises(LevelFileError, match=rf"level\.0 \(harbour\): {expected_text}"):
            create_levels({"level": [entry | wrong]}, "levels.toml")


MYSTERY = {
    "id": "luck",
    "name": {"en": "Luck", "fr": "Chance"},
    "mystery": True,
    "stake_cents": 50,
    "base_cents": 500,
    "ceiling_cents": 550,
    "increment": "1/90",
}


@pytest.mark.requirement("I-03")
def test_the_odds_of_a_mystery_level_follow_from_its_terms_and_are_the_game_s():
    (level,) = create_levels({"level": [MYSTERY]}, "levels.toml")
    assert level.stake_and_hit_rate.hit_rate == compute_mystery_rate(Fraction(50) / (Fraction(50) / 90))
    game = load_game(THREE)
    (play,) = (
        level for level in game.list_every_level() if (level.level, level.stake_credits) == ("mystery", 10)
    )
    assert level.stake_and_hit_rate.hit_rate == play.hit_rate
    named = {"game": str(THREE), "game_level": "mystery"}
    assert create_levels({"level": [MYSTERY | named]}, "levels.toml") == (level,)
    top = {"game": str(THREE), "game_level": "top", "increment": "1/70"}
    for wrong, expected_text in (
        ({"odds": "1/9"}, "odds"),
        ({"ceiling_cents": None}, "a mystery level needs a ceiling"),
        (named | {"mystery": False}, "mystery"),
        (named | {"base_cents": 400}, "base_cents, ceiling_cents"),
        (named | {"increment": "1/80"}, "increment"),
        (top, "mystery"),
    ):
        entry = {key: value for key, value in (MYSTERY | wrong).items() if value is not None}
        with pytest.raises(LevelFileError, match=rf"level\.0 \(luck\): {expected_text}"):
            create_levels({"level": [entry]}, "levels.toml")


@pytest.mark.requirement("I-03")
def test_a_keno_level_that_tickets_of_several_prices_play_for_is_not_shared():
    entry = {**FILE["level"][0], "game": "archipelago-keno", "game_level": "lighthouse"}
    entry |= {"stake_cents": 5, "increment": "1/100"}
    del entry["odds"]
    with pytest.raises(LevelFileError, match="wagers of several prices play for it"):
        create_levels({"level": [entry]}, "levels.toml")
    shared = entry | {"game": "summit-keno", "game_level": "summit", "stake_cents": 25, "increment": "1/50"}
    (level,) = create_levels({"level": [shared]}, "levels.toml")
    assert level.stake_and_hit_rate.hit_rate == load_game("summit-keno").list_every_level()[0].hit_rate


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"increment": 0.005}, "level.0.increment"),
        ({"odds": "0"}, "odds"),
        ({"odds": 1000}, "level.0.odds: 1000 is not an exact number in quotes"),
        ({"name": {"en": "x"}}, "name"),
        ({"kind": "stand_alone"}, "kind"),
        ({"base_cents": 0}, "base_cents"),
        ({"ceiling_cents": 2500}, "ceiling_cents"),
        ({"colour": "red"}, "level.0.colour"),
        ({"id": "a/b"}, "level.0.id"),
    ],
)
def test_an_invalid_level_file_names_the_place(change, named):
    with pytest.raises(LevelFileError, match=r"levels\.toml") as raised:
        create_levels({"level": [FILE["level"][0] | change]}, "levels.toml")
    assert named in str(raised.value)


def level_files_of_the_page():
    """Return the level files that docs/floor-link.md shows."""
    page = Path(__file__).parents[3].joinpath("docs", "floor-link.md").read_text(encoding="utf-8")
    blocks = (block.partition("```")[0] for block in page.split("```toml\n")[1:])
    return [block for block in blocks if block.startswith("[[level]]")]


def test_each_mistake_in_a_level_file_is_named_with_its_line(tmp_path):
    """Regression: a wrong table was reported as a file without tables."""
    example, _ = level_files_of_the_page()
    path = tmp_path / "levels.toml"
    path.write_text(example.replace("stake_cents", "stake_cent").replace('"grand"', '"a/b"'))
    with pytest.raises(LevelFileError) as raised:
        read_levels(create_level_source(path))
    first, second = str(raised.value).splitlines()
    assert first.startswith(f"level file {path}: line 2: level[1].id: 'a/b' does not fit the pattern")
    assert f"{path}: line 4: level[1].stake_cent: there is no such key; did you mean stake_cents?" in second


def test_the_level_files_of_the_page_on_links_are_valid():
    example, of_game = (
        create_levels(tomllib.loads(text), "levels.toml")[0] for text in level_files_of_the_page()
    )
    assert (example.id, example.stake_and_hit_rate.hit_rate) == ("grand", Fraction(1, 50_000))
    pool = next(
        pool
        for pool in load_game("lantern-harbour").list_every_level()
        if (pool.level, pool.stake_credits) == ("grand-harbour", 100)
    )
    assert (of_game.id, of_game.stake_and_hit_rate.hit_rate) == ("grand", pool.hit_rate)
    assert of_game.terms.base_cents == pool.reset_credits
