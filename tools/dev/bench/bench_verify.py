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
    encode_for_signature,
    encode_signed_manifest,
    format_public_key,
    read_signing_key,
)
from egm.verify.software_files import SoftwareScope, list_software_files
from tools.dev.bench import BenchFigure, measure_median_milliseconds

_MEASUREMENTS: Final = 9


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the figures of software verification, for the program as installed."""
    found = list_software_files(SoftwareScope())
    command = ["sha256sum", "--", *map(str, found.values())]
    bare_ms = measure_median_milliseconds(
        lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True), _MEASUREMENTS
    )
    with tempfile.TemporaryDirectory() as folder:
        manifest, key = Path(folder) / "software.manifest", read_signing_key(create_signing_key(), "bench")
        content = SoftwareManifest(
            version="0",
            made_utc="",
            reason="",
            includes_libraries=False,
            includes_bytecode=False,
            files=compute_digests(found),
        )
        manifest.write_bytes(encode_signed_manifest(encode_for_signature(content), key, "bench"))
        public = format_public_key(key)
        yield BenchFigure(
            f"software examined at start, {len(found)} files",
            measure_median_milliseconds(lambda: verify_software_files(manifest, public, ()), _MEASUREMENTS),
            "ms",
            "sha256sum of the same files",
            bare_ms,
            better_if="lower",
            target="below 1: nobody waits for a start because of it",
        )
    yield BenchFigure(
        "every component signed, SHA-1 with HMAC",
        measure_median_milliseconds(
            lambda: compute_signatures(found, SignatureAlgorithm.SHA1_HMAC, b"seed"), _MEASUREMENTS
        ),
        "ms",
        "sha256sum of the same files",
        bare_ms,
        better_if="lower",
        target="the standard allows 20 minutes",
    )
