"""Real servers of the tests' own, on private folders and ports: PostgreSQL, as a user who is not root."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

#: Debian keeps the server's programs apart from everybody's.
_PROGRAMS = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/bin")]


def program(name: str, folders=()) -> str | None:
    """Where a server's program is, or None."""
    for folder in folders:
        if (folder / name).is_file():
            return str(folder / name)
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def free_port() -> int:
    """A port of this computer that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Postgres:
    """A PostgreSQL server on a socket in a folder of its own."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self._user = None
        if os.geteuid() == 0:  # it refuses to run as root
            self._user = next(
                (n for n in ("postgres", "nobody") if n in {e.pw_name for e in pwd.getpwall()}), None
            )
            shutil.chown(self.folder, self._user)
        self.folder.chmod(0o700)
        self._process: subprocess.Popen | None = None
        self._run("initdb", "--auth=trust", "--username=egm", "--no-sync", "-D", str(self.folder / "data"))
        self.start()

    def _run(self, name: str, *arguments: str) -> None:
        done = subprocess.run(
            [program(name, _PROGRAMS), *arguments],
            user=self._user,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        """Run it, and wait until it answers."""
        self._process = subprocess.Popen(
            [
                program("postgres", _PROGRAMS),
                *("-D", str(self.folder / "data"), "-k", str(self.folder), "-c", "listen_addresses="),
            ],
            user=self._user,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(600):
            if (
                subprocess.run(
                    [program("pg_isready", _PROGRAMS), "-h", str(self.folder), "-U", "egm", "-q"], check=False
                ).returncode
                == 0
            ):
                return
            time.sleep(0.05)  # another program: there is nothing else to wait on
        raise AssertionError("PostgreSQL does not come up")

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait()

    def dsn(self, database: str = "postgres") -> str:
        """How to reach a database."""
        return f"host={self.folder} user=egm dbname={database}"

    def new_database(self, name: str) -> str:
        """Make a database; how to reach it."""
        self._run("createdb", "-h", str(self.folder), "-U", "egm", name)
        return self.dsn(name)

    def close(self) -> None:
        """End it, and remove what it kept."""
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self.folder)


def postgres_or_skip() -> Postgres:
    """A server, or the reason why there is none."""
    if program("initdb", _PROGRAMS) is None or program("postgres", _PROGRAMS) is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt install postgresql)")
    return Postgres()
