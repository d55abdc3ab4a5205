"""A new game is created, checked, tuned, given a picture, and played in a cabinet that pays out."""

import asyncio
import re
import signal
import subprocess

import pygame
import pytest

from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import Hello
from egm.play.keys import PlayKey
from meters import open_view
from tests.end_to_end.run_rig import EGM, Visit, egm, until
from tools.cli.one_game import write_one_game_cabinet

_COLOUR = (0xE0, 0x10, 0xF0)
_SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="#e010f0"/></svg>'


def test_a_new_game_is_checked_tuned_pictured_played_and_cashed_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    egm("game", "new", "mine.toml", "--from", "seven-rivers")
    with (tmp_path / "mine.toml").open("a", encoding="utf-8") as file:
        file.write('\n[art]\nlook = "comet"\npictures = { salmon = "salmon.svg" }\n')
    (tmp_path / "salmon.svg").write_text(_SVG, encoding="utf-8")
    egm("game", "tune", "mine.toml", "--return", "0.92", "--write")
    output = egm("game", "check", "mine.toml", "--jurisdiction", "generic")
    returns = [float(found) for found in re.findall(r"return ([\d.]+) %", output)]
    assert min(returns) == pytest.approx(92, abs=0.05)
    digest = re.search(r"mine 0\.1\.0 is valid.*SHA-256 ([0-9a-f]{64})", output)[1]
    output = egm("screen", "preview", "mine.toml")
    assert "mine.png: " in output
    picture = pygame.image.load(tmp_path / "mine.png")
    assert picture.get_width() > 1200
    seen = {tuple(picture.get_at((x, y))[:3]) for x in range(0, 1200, 4) for y in range(0, 500, 4)}
    assert len(seen) > 200
    assert _COLOUR in seen
    asyncio.run(_visit(StateFolder(tmp_path / "state"), tmp_path, digest))


async def _visit(folder, cwd, digest):
    where = ("--game", "mine.toml", "--state", str(folder.root), "--screen", "none")
    process = await asyncio.create_subprocess_exec(
        *EGM, "run", *where, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        async with Visit.connect(folder) as visit:
            hello = await until(visit.screen, lambda m: isinstance(m, Hello))
            assert [game.id for game in hello.games] == ["mine"]
            art = hello.games[0].art
            assert (art.look, hello.games[0].digest) == ("comet", digest)
            assert art.pictures["salmon"].path == str(cwd / "salmon.svg")
            await visit.wait_until_shown(state="idle", credit_cents=0)
            await visit.operate_until_accepted("bill", "insert", amount_cents=500)
            before = await visit.wait_until_shown(state="idle", credit_cents=500)
            assert before.game_id == "mine"
            played = await visit.play_game()
            assert played.game_id == "mine"
            stake = played.bet_credits * before.denomination_cents
            after = await visit.wait_until_shown(state="idle", credit_cents=500 - stake + played.paid_cents)
            assert "cash_out" in after.accepted_inputs
            visit.send_intent("cash_out")
            await visit.wait_until_shown(state="idle", credit_cents=0)
    finally:
        process.send_signal(signal.SIGTERM)
        output, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    assert "memory is in" in output.decode()
    with open_view(folder.root) as journal:
        assert (
            journal.state(f"{PlayKey.GAME_DEFINITION}{digest}") is not None
        )  # the tuned game is the one that was played


def test_a_game_with_progressive_levels_has_them_in_its_cabinet_file(tmp_path):
    folder = StateFolder(tmp_path / "state")
    folder.create_private_folders()
    assert "[[progressives]]" in write_one_game_cabinet("lantern-harbour", folder).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "expected_text"),
    [
        (("cost = 1 ", 'cost = "x" '), "mine.toml, line 25: bets.mode.0.cost: "),
        (("pays = { 3 = 500 }", "pays = { 3 = -1 }"), "stage.base.pay.0"),
        (("pays = { 3 = 500 }", "pays = { 3 = 500"), "at line"),
        (("multiplier = 2 ", "multiplyer = 2 "), "did you mean `multiplier`?"),
        (("pays = { 3 = 500 }", "pays = { 3 = 9 }"), "the machine would not offer mine.toml: mine: returns"),
    ],
)
def test_a_game_that_cannot_run_is_refused_by_file_key_and_line(tmp_path, monkeypatch, change, expected_text):
    monkeypatch.chdir(tmp_path)
    egm("game", "new", "mine.toml")
    file = tmp_path / "mine.toml"
    text = file.read_text(encoding="utf-8")
    assert change[0] in text
    text = text.replace(*change)
    if "returns" in expected_text:
        text = text.replace("pays = { 3 = 50 }", "pays = { 3 = 10 }")
    file.write_text(text, encoding="utf-8")
    run = [*EGM, "run", "--game", "mine.toml", "--state", "state", "--screen", "none"]
    result = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert expected_text in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
