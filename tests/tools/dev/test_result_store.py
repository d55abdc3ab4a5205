"""An interrupted calculation continues, and uses only its own stored results."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import paytables
from egm.play.stored_prizes import compute_code_digest
from paytables import definition, load_game
from tools.dev.commands.prove import command
from tools.dev.result_store import OtherCalculationError, ResultStore

HOLDEM = paytables.definition.LIBRARY_FOLDER / "tables" / "france-casino-holdem.toml"
OF = {"definition": "a", "version of the program": "1"}


def result(case):
    return np.arange(case), np.array([case * case], dtype=np.int64)


def run(path, cases, stop=None, computed=None):
    """Run two maps over the cases; stop before computing result ``stop``; list computed results in ``computed``."""
    store = ResultStore(path, OF)
    computed = [] if computed is None else computed

    def work(case):
        if len(computed) == stop:
            raise KeyboardInterrupt
        computed.append(case)
        return result(case)

    try:
        found = [*store.map(map, work, cases), *store.map(map, work, cases)]
    except KeyboardInterrupt:
        store.close(done=False)
        return None
    store.close(done=True)
    return [[array.tolist() for array in arrays] for arrays in found]


@pytest.mark.parametrize("stop", [0, 3, 5, 7])
def test_an_interrupted_calculation_continues_with_the_same_result(stop, tmp_path):
    results = run(tmp_path / "whole", range(5))
    assert not (tmp_path / "whole").exists()
    assert run(tmp_path / "part", range(5), stop) is None
    computed = []
    assert run(tmp_path / "part", range(5), computed=computed) == results
    assert len(computed) == 10 - stop
    assert not (tmp_path / "part").exists()


@pytest.mark.parametrize("cut", [1, 3, 30])
def test_a_truncated_result_is_computed_again(cut, tmp_path):
    results = run(tmp_path / "whole", range(5))
    run(tmp_path / "part", range(5), 4)
    data = (tmp_path / "part").read_bytes()
    (tmp_path / "part").write_bytes(data[:-cut])
    computed = []
    assert run(tmp_path / "part", range(5), computed=computed) == results
    assert computed[0] == 3


def test_a_damaged_result_and_those_after_it_are_computed_again(tmp_path):
    results = run(tmp_path / "whole", range(5))
    run(tmp_path / "part", range(5), 1)
    size = (tmp_path / "part").stat().st_size
    run(tmp_path / "part", range(5), 3)
    data = bytearray((tmp_path / "part").read_bytes())
    data[size + 8] ^= 255
    (tmp_path / "part").write_bytes(data)
    computed = []
    assert run(tmp_path / "part", range(5), computed=computed) == results
    assert computed[0] == 1


def test_stored_results_of_another_calculation_are_rejected(tmp_path):
    run(tmp_path / "part", range(5), 2)
    before = (tmp_path / "part").read_bytes()
    with pytest.raises(OtherCalculationError, match="part: belongs to a different definition;"):
        ResultStore(tmp_path / "part", {**OF, "definition": "b"})
    with pytest.raises(OtherCalculationError, match="to a different version of the program; remove the file"):
        ResultStore(tmp_path / "part", {**OF, "version of the program": "2"})
    assert (tmp_path / "part").read_bytes() == before
    (tmp_path / "part").write_bytes(b"")
    with pytest.raises(OtherCalculationError, match="does not identify its calculation"):
        ResultStore(tmp_path / "part", OF)


def test_a_proof_is_written_into_its_definition_and_leaves_no_other_file(tmp_path):
    path = tmp_path / "jacks.toml"
    text = (HOLDEM.parent / "jacks-or-better-9-6.toml").read_text()
    path.write_text(text.split("\n[proved", maxsplit=1)[0])
    result = CliRunner().invoke(command, [str(path)], catch_exceptions=False)
    assert result.exit_code == 0
    assert (
        load_game(path).rules.definition
        == load_game(HOLDEM.parent / path.name.replace("jacks", "jacks-or-better-9-6")).rules.definition
    )
    assert [path.name for path in tmp_path.iterdir()] == ["jacks.toml"]


def test_a_proof_does_not_continue_from_results_of_another_definition(tmp_path):
    path = tmp_path / "holdem.toml"
    path.write_text(HOLDEM.read_text().replace('pays = "3:2"', 'pays = "2:1"'))
    part = tmp_path / "holdem.toml.part"
    data = definition.parse(paytables.source.read_source_file(HOLDEM, definition.LIBRARY_FOLDER))
    del data["proved"]
    ResultStore(
        part, {"definition": definition.compute_digest(data), "version of the program": compute_code_digest()}
    ).close(done=False)
    before = path.read_text()
    result = CliRunner().invoke(command, [str(path)])
    assert result.exit_code == 1
    assert f"{part}: belongs to a different definition; remove the file" in result.output
    assert path.read_text() == before


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_an_interrupted_proof_continues_and_reports_it(tmp_path):
    """The largest proof is interrupted and then killed, and still ends with the published figures."""
    path = tmp_path / "holdem.toml"
    path.write_text(HOLDEM.read_text().split("\n[proved", maxsplit=1)[0])
    start = [sys.executable, "-m", "tools.dev", "prove", str(path)]
    for n, stop_signal in enumerate((signal.SIGINT, signal.SIGKILL)):
        with subprocess.Popen(start, stdout=subprocess.PIPE, text=True) as process:
            lines = [process.stdout.readline() for _ in range(1 + n)]
            process.send_signal(stop_signal)
        assert ("continues after" in lines[0]) == bool(n)
        assert "[proved" not in path.read_text()
    subprocess.run(start, check=True)
    assert path.read_text() == HOLDEM.read_text()
