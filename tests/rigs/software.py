"""A copy of the installed software that a test may damage, sign as its manufacturer and run in a process."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from egm.verify.examine import VerificationFindings
from egm.verify.manifest import (
    SoftwareManifest,
    create_signing_key,
    encode_signed_manifest,
    encode_unsigned_manifest,
    format_public_key,
    read_signing_key,
)

ROOT = Path(__file__).parents[2]
PACKAGES = ("egm", "meters", "paytables", "rng", "tools")


class Installation:
    """An installed copy of the software, with a signed manifest of its files and the signing key."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "program"
        #: Compiled modules are stored outside the installation, so that not every process compiles them again.
        self._compiled_apart = ("-X", f"pycache_prefix={folder / 'compiled'}")
        for package in PACKAGES:
            shutil.copytree(
                ROOT / package, self.root / package, ignore=shutil.ignore_patterns("__pycache__", ".*")
            )
        self.key = read_signing_key(create_signing_key(), "test")
        self.public = format_public_key(self.key)
        self.manifest_file = folder / "software.manifest"
        self.make()

    def run(self, code: str, *arguments: object, flags: tuple[str, ...] | None = None) -> str:
        """Run Python code with only the packages of this installation; return its output."""
        result = subprocess.run(
            [
                sys.executable,
                *(self._compiled_apart if flags is None else flags),
                "-c",
                code,
                *map(str, arguments),
            ],
            env=os.environ | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": ""},
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def make(
        self, reason: str = "first", own_files: tuple[tuple[str, str], ...] = (), *, bytecode: bool = False
    ) -> None:
        """Write a manifest of the installed files, signed by the manufacturer."""
        code = (
            "import json, sys; from egm.verify.software_files import SoftwareScope, list_software_files;"
            "from egm.verify.digest import compute_digests;"
            "own = tuple(map(tuple, json.loads(sys.argv[1])));"
            "print(json.dumps(compute_digests(list_software_files(SoftwareScope(cabinet_definitions=own, includes_bytecode=bool(sys.argv[2]))))))"
        )
        manifest = SoftwareManifest(
            version="1.0",
            made_utc="2026-01-01T00:00:00+00:00",
            reason=reason,
            includes_libraries=False,
            includes_bytecode=bytecode,
            files=json.loads(self.run(code, json.dumps(own_files), "1" if bytecode else "")),
        )
        self.manifest_file.write_bytes(
            encode_signed_manifest(encode_unsigned_manifest(manifest), self.key, "test")
        )

    def examine(
        self, own_files: tuple[tuple[str, str], ...] = (), *, flags: tuple[str, ...] | None = None
    ) -> VerificationFindings:
        """Return the findings of the installation's own verification, which runs in another process."""
        code = (
            "import json, sys; from dataclasses import asdict; from pathlib import Path;"
            "from egm.verify.examine import verify_software_files;"
            "own = tuple(map(tuple, json.loads(sys.argv[3])));"
            "print(json.dumps(asdict(verify_software_files(Path(sys.argv[1]), sys.argv[2], own))))"
        )
        result = json.loads(
            self.run(code, self.manifest_file, self.public, json.dumps(own_files), flags=flags)
        )
        return VerificationFindings(
            **(result | {key: tuple(result[key]) for key in ("differences", "differing_file_names")})
        )
