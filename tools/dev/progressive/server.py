"""A PostgreSQL of one's own, for benches and tests: a private folder, a private socket, no network."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from egm.errors import OperatorError

_UP_SECONDS: Final = 30.0
#: It refuses to run as root: one of these takes its place.
_OTHERS: Final = ("postgres", "nobody")


class PostgresMissingError(OperatorError):
    """PostgreSQL is not installed."""


def postgres_program(name: str) -> str:
    """Return the path of a PostgreSQL program; each Debian version has its own.

    Raises :class:`PostgresMissingError`.
    """
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / name).is_file():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise PostgresMissingError(f"{name}: PostgreSQL is not installed (Debian: apt install postgresql)")
    return found


class Postgres:
    """A PostgreSQL server on a socket in its own folder."""

    def __init__(self) -> None:
        """Make and start it. Raises :class:`PostgresMissingError`, OperatorError if it fails."""
        postgres = postgres_program("postgres")
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self._user: str | None = None
        if os.geteuid() == 0:
            known = {entry.pw_name for entry in pwd.getpwall()}
            self._user = next((name for name in _OTHERS if name in known), None)
            if self._user is not None:
                shutil.chown(self.folder, self._user)
        self.folder.chmod(0o700)
        data = str(self.folder / "data")
        self._run("initdb", "--auth=trust", "--username=egm", "--no-sync", "-D", data)
        self._command = [postgres, "-D", data, "-k", str(self.folder), "-c", "listen_addresses="]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def _run(self, name: str, *arguments: str) -> None:
        command = [postgres_program(name), *arguments]
        done = subprocess.run(
            command, user=self._user, cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise OperatorError(f"{name}: {done.stderr.strip()}")

    def start(self) -> None:
        """Run it, and wait until it answers. Raises OperatorError where it does not."""
        silence = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._command, user=self._user, cwd=self.folder, stdout=silence, stderr=silence
        )
        limit = time.monotonic() + _UP_SECONDS
        while time.monotonic() < limit:
            with contextlib.suppress(OperatorError):
                self._run("pg_isready", "-h", str(self.folder), "-U", "egm", "-q")
                return
            time.sleep(0.05)  # another program: there is nothing else to wait on
        raise OperatorError("PostgreSQL does not come up")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it as a restart of its service does: every session is ended, not waited for."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()

    def dsn(self, database: str = "postgres") -> str:
        """Return the connection string of a database."""
        return f"host={self.folder} user=egm dbname={database}"

    def new_database(self, name: str) -> str:
        """Make a database; how to reach it."""
        self._run("createdb", "-h", str(self.folder), "-U", "egm", name)
        return self.dsn(name)

    def close(self) -> None:
        """End it, and remove what it kept."""
        self.stop(signal.SIGQUIT)  # at once: nothing need be written that is removed next
        shutil.rmtree(self.folder)
