"""No process of the product imports modules from the working directory."""

import asyncio
import os
import subprocess
import sys

import pytest
from run_rig import ONE_GAME, cabinet, connect, snapshot, until

from egm.config.cabinet_file import StateFolder
from egm.isolated import build_python_command
from egm.verify.digest import SignatureAlgorithm, compute_signatures
from egm.verify.examine import compute_signatures_in_child_process, examine_in_child_process
from egm.verify.software_files import SoftwareScope, list_software_files

#: Ours, the standard library's, and a dependency's.
PLANTED = (
    "egm",
    "meters",
    "rng",
    "paytables",
    "tools",
    "tomllib",
    "json",
    "asyncio",
    "click",
    "sitecustomize",
)
PROCESSES = ("egm.app", "egm.app.bench", "egm.screen", "egm.verify.examine")


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A working directory with modules of the product's names, each of which leaves a mark when it is imported."""
    here = tmp_path / "here"
    here.mkdir()
    mark = here / "imported"
    for name in PLANTED:
        code = f"open({str(mark)!r}, 'a').write({name!r} + chr(10))\nraise SystemExit('all as signed')\n"
        if name in {"tomllib", "json", "click", "asyncio", "sitecustomize"}:
            (here / f"{name}.py").write_text(code)
        else:
            (here / name).mkdir()
            (here / name / "__init__.py").write_text(code)
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", str(here))
    monkeypatch.setenv("PYTHONSTARTUP", str(here / "json.py"))
    return mark


@pytest.mark.parametrize("module", PROCESSES)
def test_no_process_imports_from_the_directory_it_is_started_in(planted, module):
    subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, check=False)
    assert planted.exists(), "nothing was planted"
    planted.unlink()
    subprocess.run(
        [*build_python_command(module), "--help"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert not planted.exists(), planted.read_text()


@pytest.mark.requirement("A-12", "A-18")
def test_the_verifier_process_imports_only_installed_modules(planted):
    signed = asyncio.run(
        compute_signatures_in_child_process(
            SoftwareScope(), SignatureAlgorithm.SHA256_HMAC, b"\x0a", ("chance",)
        )
    )
    assert signed == compute_signatures(
        list_software_files(SoftwareScope()), SignatureAlgorithm.SHA256_HMAC, b"\x0a", ["chance"]
    )
    found = asyncio.run(examine_in_child_process(planted.with_name("none.manifest"), "00" * 32, ()))
    assert "No such file" in found.differences[0]
    assert not planted.exists(), planted.read_text()


@pytest.mark.parametrize("games", [ONE_GAME, pytest.param(None, marks=pytest.mark.slow)], ids=["one", "all"])
def test_a_whole_cabinet_starts_in_a_directory_with_planted_modules(planted, tmp_path, games):
    folder = StateFolder(tmp_path / "state")

    async def session():
        async with cabinet(folder, games=games):
            screen, writer = await connect(folder.screen_socket, folder.screen_token)
            await until(screen, snapshot(state="idle"))
            writer.close()

    asyncio.run(session())
    assert not planted.exists(), planted.read_text()


@pytest.mark.parametrize("module", ["egm.app", "egm.verify.examine"])
def test_a_process_with_the_working_directory_in_its_path_refuses_to_start(tmp_path, module):
    options = ("--state", str(tmp_path / "state")) if module == "egm.app" else ()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run(
        [sys.executable, "-m", module, *options],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=clean, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode
    assert "with the working directory among its modules" in result.stderr
    assert not (tmp_path / "state").exists()


@pytest.mark.requirement("A-12")
@pytest.mark.parametrize("start", ["script", "module"])
def test_the_egm_command_imports_nothing_from_the_directory_it_is_started_in(planted, start):
    """A sitecustomize module runs before any program and belongs to the environment; all later imports are checked."""
    planted.with_name("sitecustomize.py").unlink()
    (script := planted.parent.parent / "egm").write_text(
        "import sys\nfrom tools.cli import main\nsys.exit(main())\n"
    )
    for name in ("tools", "egm", "meters", "rng", "paytables"):  # the environment names modules of this test
        (planted.with_name(name) / "__init__.py").unlink()
        planted.with_name(name).rmdir()
    start_arguments = [str(script)] if start == "script" else ["-m", "tools.cli"]
    result = subprocess.run(
        [sys.executable, *start_arguments, "profile", "list"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "generic" in result.stdout
    assert not planted.exists(), planted.read_text()
