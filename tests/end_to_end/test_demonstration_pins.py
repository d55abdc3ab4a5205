"""The PINs of a demonstration are printed at a terminal, and in no stored log."""

import json
import os
import pty
import re
import signal
import subprocess

from run_rig import EGM

LAST = "Ctrl-C stops the cabinet"


def words_of(state, stdout, read):
    """Return the output of ``egm run`` at its start."""
    cabinet = subprocess.Popen(
        [*EGM, "run", "--state", state, "--screen", "none"], stdout=stdout, stderr=subprocess.DEVNULL
    )
    output = ""
    try:
        while LAST not in output:
            piece = read(cabinet)
            assert piece, output
            output += piece.decode()
    finally:
        cabinet.send_signal(signal.SIGTERM)
        cabinet.communicate(timeout=60)
    return output


def test_demonstration_pins_are_printed_at_a_terminal_and_in_no_log(tmp_path):
    state = tmp_path / "state"
    logged = words_of(state, subprocess.PIPE, lambda cabinet: cabinet.stdout.readline())
    (file,) = (path for path in state.iterdir() if str(path) in logged)
    assert file.stat().st_mode & 0o077 == 0
    pins = [badge["pin"] for badge in json.loads(file.read_text())]
    assert len(pins) > 3
    assert not [pin for pin in pins if pin in logged]
    ours, theirs = pty.openpty()
    try:
        output = words_of(state, theirs, lambda _cabinet: os.read(ours, 4096))
    finally:
        os.close(ours)
        os.close(theirs)
    assert re.findall(r"staff number \d+, PIN (\d{6})", output) == pins
