"""A cabinet with signed software, with the real commands and processes, from key to tilt."""

import asyncio
import contextlib
import subprocess
from pathlib import Path

import pytest
from run_rig import EGM, Visit, cabinet, egm, until

import paytables
from egm.config.cabinet_file import StateFolder

LIBRARY = Path(paytables.__file__).parent / "library"


@pytest.mark.requirement("A-12", "A-14", "A-16", "A-18")
def test_a_changed_game_file_stops_the_machine_at_the_next_door_closing(tmp_path):
    folder, game = StateFolder(tmp_path / "state"), tmp_path / "own.toml"
    game.write_bytes((LIBRARY / "maple-classic.toml").read_bytes())
    key, manifest = tmp_path / "maker.pem", tmp_path / "software.manifest"
    public = egm("manifest", "key", key).strip()
    table = f'\n[software]\nmanifest = "{manifest}"\nkey = "{public}"\n'

    def use_own_game(text: str) -> str:
        return text.replace('game = "maple-classic"', f'game = "{game}"')

    async def session():
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(cabinet(folder, tables=table, change=use_own_game))
            visit = await stack.enter_async_context(Visit.connect(folder))
            await visit.wait_until_shown(state="idle")
            identity = await asyncio.to_thread(egm, "gat", "identity", "--state", folder.root)
            assert "Signed by: nobody" not in identity
            signed = await asyncio.to_thread(
                egm, "gat", "sign", "own", "--state", folder.root, "--seed", "0a"
            )
            here = await asyncio.to_thread(
                egm,
                "signature",
                "--cabinet",
                tmp_path / "state.toml",
                "--seed",
                "0a",
                "--component",
                "own",
                "--json",
            )
            assert here.split('"own": "')[1].split('"')[0].upper() in signed
            game.write_text(game.read_text() + "\n")
            await visit.operate("io", "door", name="main", open=True)
            await visit.wait_until_shown(state="door_open")
            await visit.operate("io", "door", name="main", open=False)
            shown = await until(visit.screen, lambda m: len(getattr(m, "tilts", ())) == 2)
            assert {tilt.code: tilt.detail for tilt in shown.tilts} == dict.fromkeys(
                ("software_check", "software_differs"), f"own{game}"
            )

    cabinet_file = tmp_path / "state.toml"
    cabinet_file.write_text(use_own_game((LIBRARY.parents[1] / "egm/config/default.toml").read_text()))
    egm("manifest", "make", "--no-libraries", "--no-bytecode", "--cabinet", cabinet_file, "--out", manifest)
    egm("manifest", "sign", manifest, "--key", key)
    asyncio.run(session())
    result = subprocess.run(
        [*EGM, "manifest", "verify", "--cabinet", str(cabinet_file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert f"own{game}: altered" in result.stderr
