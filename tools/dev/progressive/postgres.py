"""Run a private PostgreSQL server for benchmarks and tests: own folder, own socket, no network."""

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

_START_TIMEOUT_SECONDS: Final = 30.0
#: Users to run the server as, because it refuses to run as root.
_SERVER_USERS: Final = ("postgres", "nobody")


class PostgresMissingError(OperatorError):
    """Raised if PostgreSQL is not installed."""


def find_postgres_program(name: str) -> str:
    """Return the path of the PostgreSQL program ``name``, which differs between Debian versions.

    Raises :class:`PostgresMissingError`.
    """
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / name).is_file():
            return str(folder / name)
    program = shutil.which(name)
    if program is None:
        raise PostgresMissingError(f"{name}: PostgreSQL is not installed (Debian: apt install postgresql)")
    return program


class Postgres:
    """A PostgreSQL server on a socket in its own folder."""

    def __init__(self) -> None:
        """Create and start the server. Raises :class:`PostgresMissingError`, or OperatorError if it fails."""
        postgres = find_postgres_program("postgres")
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self._user: str | None = None
        if os.geteuid() == 0:
            user_names = {entry.pw_name for entry in pwd.getpwall()}
            self._user = next((name for name in _SERVER_USERS if name in user_names), None)
            if self._user is not None:
                shutil.chown(self.folder, self._user)
        self.folder.chmod(0o700)
        data = str(self.folder / "data")
        self._run_program("initdb", "--auth=trust", "--username=egm", "--no-sync", "-D", data)
        self._command = [postgres, "-D", data, "-k", str(self.folder), "-c", "listen_addresses="]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def _run_program(self, name: str, *arguments: str) -> None:
        command = [find_postgres_program(name), *arguments]
        completed_process = subprocess.run(
            command, user=self._user, cwd=self.folder, capture_output=True, text=True, check=False
        )
        if completed_process.returncode:
            raise OperatorError(f"{name}: {completed_process.stderr.strip()}")

    def start(self) -> None:
        """Start the server and wait until it accepts connections. Raises OperatorError if it does not."""
        devnull = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._command, user=self._user, cwd=self.folder, stdout=devnull, stderr=devnull
        )
        limit = time.monotonic() + _START_TIMEOUT_SECONDS
        while time.monotonic() < limit:
            with contextlib.suppress(OperatorError):
                self._run_program("pg_isready", "-h", str(self.folder), "-U", "egm", "-q")
                return
            time.sleep(0.05)  # another program, which can only be polled
        raise OperatorError("PostgreSQL does not start")

    def stop(self, signal_number: signal.Signals = signal.SIGINT) -> None:
        """Stop the server with this signal, as a restart of its service does: sessions are ended without waiting."""
        if self._process is not None:
            self._process.send_signal(signal_number)
            self._process.wait()

    def dsn(self, database: str = "postgres") -> str:
        """Return the connection string of a database."""
        return f"host={self.folder} user=egm dbname={database}"

    def create_database(self, name: str) -> str:
        """Create a database and return its connection string."""
        self._run_program("createdb", "-h", str(self.folder), "-U", "egm", name)
        return self.dsn(name)

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self.stop(signal.SIGQUIT)  # immediate shutdown, because the data is removed next
        shutil.rmtree(self.folder)
