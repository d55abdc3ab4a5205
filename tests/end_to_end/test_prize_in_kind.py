"""A hamper won on a whole cabinet: its processes, its devices, the attendant's key, and the audit."""

import asyncio
import json

import pytest
from run_rig import Visit, cabinet, egm

from egm.config.cabinet_file import StateFolder

#: Every game pays its stake back and wins the hamper.
SURE = """
[game]
id = "sure"
family = "reels"
version = "1.0.0"
date = 2026-11-22
title = { en = "Sure", fr = "Certain" }
help = { en = "Like symbols on the line win.", fr = "Des symboles pareils sur la ligne gagnent." }
denominations_cents = [25]
[bets]
[[bets.mode]]
id = "one"
cost = 1
[[merchandise]]
id = "hamper"
name = { en = "Hamper", fr = "Panier" }
description = { en = "Apples and cheese.", fr = "Des pommes et du fromage." }
value_cents = 6000
[[symbol]]
id = "apple"
name = { en = "Apple", fr = "Pomme" }
[[symbol]]
id = "pear"
name = { en = "Pear", fr = "Poire" }
[stage.base]
heights = [1]
lines = [[0]]
strips = ["apple apple"]
[[stage.base.pay]]
of = "apple"
pays = { 1 = 1 }
gives = [{ merchandise = "hamper" }]
"""


async def _won(folder: StateFolder, game) -> list:
    """Play until the hamper is won, have it delivered, and cash out; return what the screen received."""

    def only(text: str) -> str:
        machine, device_text = text.split("[[games]]", 1)[0], text[text.index("[devices.") :]
        return f'{machine}[[games]]\ngame = "{game}"\n{device_text}'

    async with cabinet(folder, change=only), Visit.connect(folder) as visit:
        await visit.wait_until_shown(state="idle")
        await visit.operate_until_accepted("bill", "insert", amount_cents=2000)
        await visit.wait_until_shown(credit_cents=2000, state="idle")
        played = await visit.play_game()
        owed = await visit.wait_until_shown(state="handpay")
        await visit.operate("io", "key", name="attendant", on=True)
        await visit.operate("io", "key", name="attendant", on=False)
        free = await visit.wait_until_shown(state="idle", credit_cents=1975)
        return [played, owed, free]


@pytest.mark.requirement("C-03", "F-06")
def test_a_hamper_is_won_delivered_and_audited(tmp_path):
    game = tmp_path / "games" / "sure.toml"
    game.parent.mkdir()
    game.write_text(SURE)
    folder = StateFolder(tmp_path / "state")
    played, owed, free = asyncio.run(_won(folder, game))
    assert [(prize.id, prize.value_cents) for prize in played.prizes] == [("hamper", 6000)]
    assert (owed.handpay.kind, owed.handpay.amount_cents, owed.handpay.can_take_cash) == (
        "merchandise",
        25,
        True,
    )
    assert owed.handpay.prizes == played.prizes
    assert free.handpay is None

    state = ("--state", str(folder.root))
    exported = tmp_path / "audit.jsonl"
    egm("audit", "export", str(exported), *state)
    verified = egm("audit", "verify", str(exported), "--games", str(game.parent), "--json")
    (report,) = json.loads(verified).values()
    assert (report["ok"], report["games_replayed"]) == (True, 1)
    assert (report["meters"]["att_merchandise.value"], report["meters"]["att_jackpot"]) == (6000, 25)
    register = egm("register", "show", "merchandise", *state, "--json")
    assert [(line["event"], line["prizes"]) for line in json.loads(register)] == [
        ("merchandise.won", ["Hamper / Panier"]),
        ("handpay.paid", ["Hamper / Panier"]),
    ]
