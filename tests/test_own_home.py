"""No test uses the files of the user's own machine: the default folders are in a home folder of the test run."""

import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from egm.config.cabinet_file import find_default_state_folder

_USERS = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")


@pytest.mark.parametrize("name", _USERS)
def test_every_folder_of_the_users_is_the_sessions(name):
    folder = Path(os.environ[name])
    assert folder.is_dir()
    assert folder.is_relative_to(tempfile.gettempdir())
    assert not folder.is_relative_to(Path(pwd.getpwuid(os.getuid()).pw_dir))


def test_the_default_state_folder_is_the_sessions_here_and_in_a_process():
    assert find_default_state_folder().is_relative_to(os.environ["HOME"])
    ask = "from egm.config.cabinet_file import find_default_state_folder as d; from pathlib import Path; print(d(), Path.home(), sep='|')"
    result = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True)
    assert result.stdout.strip() == f"{find_default_state_folder()}|{os.environ['HOME']}"
