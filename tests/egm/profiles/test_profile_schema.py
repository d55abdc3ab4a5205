"""The published schema of profiles, the list of their keys, and the command ``egm profile``."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import egm.profiles
from egm.errors import OperatorError
from egm.profiles import list_profile_ids, load_profile
from egm.profiles.schema import build_schema, iter_keys
from tools.cli import main

FOLDER = Path(egm.profiles.__file__).parent
GOOD = (FOLDER / "generic.toml").read_text()


def run(*args: object):
    return CliRunner().invoke(main, ["profile", *map(str, args)])


@pytest.fixture(scope="module")
def validator():
    printed = json.loads(run("schema").output)
    jsonschema.Draft202012Validator.check_schema(printed)
    return jsonschema.Draft202012Validator(printed)


@pytest.mark.parametrize("name", list_profile_ids())
def test_every_shipped_profile_is_valid_against_the_published_schema(validator, name):
    validator.validate(tomllib.loads((FOLDER / f"{name}.toml").read_text()))


WRONG = [
    ('reels = "0.75"', "reels = 0.75", "returns.reels"),
    ("credit_limit_cents = 300000", "credit_limit_cents = -1", "value_in.credit_limit_cents"),
    ('currency = "USD"', 'currency = "dollars"', "currency"),
    ('defect = "refund"', 'defect = "shrug"', "pay_out.defect"),
    ('defect = "refund"', 'defect = "refund"\nrest = "vanishes"', "pay_out.rest"),
    ('methods = ["cash", "cheque", "transfer"]', "methods = []", "by_hand.methods"),
    ('methods = ["cash", "cheque", "transfer"]', 'methods = ["barter"]', "by_hand.methods"),
    ('forfeits = ["game", "handpay", "credits"]', 'forfeits = ["shoes"]', "by_hand.forfeits"),
    ("[coins]", "[protection]\nremind_minutes = [60, 0]\n[coins]", "protection.remind_minutes"),
    ("[coins]", '[protection]\nat_limit = "nag"\n[coins]', "protection.at_limit"),
    ("[coins]", "[protection]\nlimit_minutes = 0.5\n[coins]", "protection.limit_minutes"),
    ("payout_coins_max = 100", "payout_coins_max = 300", "coins.payout_coins_max"),
    ('id = "generic"', 'id = "generic"\nsurprise = 1', "surprise"),
]


@pytest.mark.parametrize(("old", "new", "key"), WRONG)
def test_the_schema_refuses_every_malformed_value_that_the_loader_refuses(validator, tmp_path, old, new, key):
    assert old in GOOD
    path = tmp_path / "place.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(OperatorError, match=key.replace(".", r"\.")):
        load_profile(path)
    assert not validator.is_valid(tomllib.loads(path.read_text()))


@pytest.mark.requirement("F-19")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('languages = ["en", "fr"]', 'languages = ["en", "en"]', "languages: list each language once"),
        ('reels = "0.75"', 'reels = "1/0"', "returns.reels"),
        ("[coins]", '[protection]\nhelp_line = { en = "call" }\n[coins]', "help_line: no text for fr"),
        ("hopper_cents = 100\n", "", "coins.hopper_cents names no coin"),
        (
            "credit_limit_cents = 300000",
            "credit_limit_cents = 300001",
            "300001 may be accepted, but only 300000 can be paid out",
        ),
    ],
)
def test_the_loader_refuses_profiles_that_break_rules_between_keys(tmp_path, old, new, message):
    assert old in GOOD
    path = tmp_path / "place.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(OperatorError) as refusal:
        load_profile(path)
    assert message in str(refusal.value)


@pytest.mark.requirement("F-19")
@pytest.mark.parametrize("name", list_profile_ids())
def test_a_shipped_profile_limits_credit_to_the_largest_automatic_payout_except_monaco(name):
    """Monaco's order has no such rule: amounts above the ticket limit are paid by hand there."""
    profile = load_profile(name)
    assert profile.value_in.requires_payable_credit_limit == (name != "monaco")
    limit_by_method = {
        "ticket": profile.tickets.ticket_max_cents,
        "coins": profile.coins.hopper_coin_cents * profile.coins.payout_coins_max,
    }
    largest_payout = max(limit_by_method[method] for method in profile.pay_out.payout_methods)
    assert (
        profile.value_in.credit_limit_cents <= largest_payout
    ) == profile.value_in.requires_payable_credit_limit


def test_every_profile_key_has_a_meaning_a_kind_and_its_default():
    keys = {key.name: key for key in iter_keys()}
    assert len(keys) > 60
    assert [key.name for key in keys.values() if not key.meaning] == []
    assert keys["pay_out.rest"].default == '"next_way"'
    assert keys["protection.remind_minutes"].kind == "list of integer above 0"
    assert keys["play.bet_limit_cents"].default is None
    assert keys["chance.every_generates"].default == "10000"
    assert build_schema()["$schema"].endswith("2020-12/schema")


def test_the_profile_command_lists_shows_and_checks_profiles(tmp_path):
    listed = run("list").output
    assert all(name in listed for name in list_profile_ids())
    shown = json.loads(run("show", "quebec-vlt").output)
    assert (shown["play"]["bet_limit_cents"], shown["returns"]["reels"]) == (250, "83/100")
    path = tmp_path / "place.toml"
    path.write_text(GOOD)
    assert run("check", path).output.endswith("valid, generic\n")
    path.write_text(GOOD.replace('currency = "USD"', 'currency = "dollars"'))
    assert run("check", "monaco").output == "monaco: valid, monaco\n"
    result = run("check", path, FOLDER / "monaco.toml")
    assert result.exit_code == 1
    (line,) = (n for n, row in enumerate(path.read_text().splitlines(), 1) if row.startswith("currency"))
    assert f"place.toml: line {line}: currency" in result.output
    assert "valid, monaco" in result.output
    for command in ("show", "check"):
        assert "jurisdiction profile atlantis: not in the library" in run(command, "atlantis").output
