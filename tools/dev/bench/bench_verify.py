"""Measure software verification, of digests and signatures, compared with coreutils on the same files."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from egm.verify.digest import SignatureAlgorithm, compute_digests, compute_signatures
from egm.verify.examine import verify_software_files
from egm.verify.manifest import (
    SoftwareManifest,
    create_signing_key,
    encode_signed_manifest,
    encode_unsigned_manifest,
    format_public_key,
    read_signing_key,
)
from egm.verify.software_files import SoftwareScope, list_software_files
from tools.dev.bench import BenchFigure, measure_median_milliseconds

_MEASUREMENTS: Final = 9


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the figures of software verification, for the program as installed."""
    path_by_name = list_software_files(SoftwareScope())
    command = ["sha256sum", "--", *map(str, path_by_name.values())]
    bare_ms = measure_median_milliseconds(
        lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True), _MEASUREMENTS
    )
    with tempfile.TemporaryDirectory() as folder:
        manifest_path, key = (
            Path(folder) / "software.manifest",
            read_signing_key(create_signing_key(), "bench"),
        )
        content = SoftwareManifest(
            version="0",
            made_utc="",
            reason="",
            includes_libraries=False,
            includes_bytecode=False,
            files=compute_digests(path_by_name),
        )
        manifest_path.write_bytes(encode_signed_manifest(encode_unsigned_manifest(content), key, "bench"))
        public_key = format_public_key(key)
        yield BenchFigure(
            f"software examined at start, {len(path_by_name)} files",
            measure_median_milliseconds(
                lambda: verify_software_files(manifest_path, public_key, ()), _MEASUREMENTS
            ),
            "ms",
            "sha256sum of the same files",
            bare_ms,
            better_if="lower",
            target="below 1: nobody waits for a start because of it",
        )
    yield BenchFigure(
        "every component signed, SHA-1 with HMAC",
        measure_median_milliseconds(
            lambda: compute_signatures(path_by_name, SignatureAlgorithm.SHA1_HMAC, b"seed"), _MEASUREMENTS
        ),
        "ms",
        "sha256sum of the same files",
        bare_ms,
        better_if="lower",
        target="the standard allows 20 minutes",
    )
