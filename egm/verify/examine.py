"""The examination of the software against its manifest, in this process or a separate one.

At start the machine examines itself before play is possible. During operation a second process reads the files
(``python -I -m egm.verify.examine``), because hashing must delay neither play nor a host's poll.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from egm.errors import LocalError, OperatorError
from egm.isolated import build_python_command, require_isolated_mode
from egm.verify.digest import SignatureAlgorithm, compute_digests, compute_signatures
from egm.verify.manifest import find_differences, load_signed_manifest
from egm.verify.software_files import SoftwareScope, list_software_files
from meters.machine_key import format_fingerprint
from paytables.source import SourceFile

#: Maximum number of files named in a finding; the rest are only counted.
LISTED_DIFFERING_FILES_MAX: Final = 20
#: How much lower the priority of the separate process is than the machine's.
_PRIORITY_DECREASE: Final = 10


@dataclass(frozen=True, slots=True)
class VerificationFindings:
    """The result of a software examination."""

    differences: tuple[str, ...]
    """One text for each of the first 20 files that differ from the signed manifest, and one that counts the others;
    without a trusted manifest, the reason."""
    differing_file_names: tuple[str, ...] = ()
    """The names of the first 20 differing files; without a trusted manifest, the manifest's own file name."""
    version: str = ""
    """The version of the software, as the manifest states it."""
    signer: str = ""
    """The fingerprint of the key that signed the manifest; empty without a trusted manifest."""
    reason: str = ""
    """The manufacturer's reason for the release, as the manifest states it."""
    components: Mapping[str, str] | None = None
    """The digest of each software component in the manifest, by name; None without a trusted manifest."""

    @property
    def matches_manifest(self) -> bool:
        """Return whether every software file is as in the manifest, and no other file was found."""
        return not self.differences


def verify_software_files(
    manifest_file: Path,
    public_key_hex: str,
    own_files: tuple[tuple[str, str], ...],
    opened_files: Iterable[SourceFile] = (),
) -> VerificationFindings:
    """Compare the installed software with the signed manifest now.

    Every file is read; a file that cannot be read is a finding, not an error. ``own_files`` are the cabinet's
    own definition files, each as (name, path). ``opened_files`` has definitions that this process has already read:
    those bytes are examined, not the ones on the disk.
    """
    try:
        manifest = load_signed_manifest(manifest_file, public_key_hex)
        digests = compute_digests(list_software_files(manifest.build_scope(own_files)), opened_files)
    except (OperatorError, LocalError, OSError) as error:
        return VerificationFindings((str(error),), (manifest_file.name,))
    differences = find_differences(manifest, digests)
    omission_note = (
        ()
        if len(differences) <= LISTED_DIFFERING_FILES_MAX
        else (f"and {len(differences) - LISTED_DIFFERING_FILES_MAX} more",)
    )
    return VerificationFindings(
        differences=tuple(str(difference) for difference in differences[:LISTED_DIFFERING_FILES_MAX])
        + omission_note,
        differing_file_names=tuple(
            difference.name for difference in differences[:LISTED_DIFFERING_FILES_MAX]
        ),
        version=manifest.version,
        signer=format_fingerprint(bytes.fromhex(public_key_hex)),
        reason=manifest.reason,
        components=manifest.components,
    )


# ------------------------------------------------------------------ in a separate process
async def examine_in_child_process(
    manifest_file: Path, public_key_hex: str, own_files: tuple[tuple[str, str], ...]
) -> VerificationFindings:
    """Examine the software in a separate process of low priority. Raises LocalError if that fails."""
    request = {"manifest": str(manifest_file), "public_key": public_key_hex, "own_files": own_files}
    result = await _run_in_child_process(request)
    tuple_by_field = {key: tuple(result[key]) for key in ("differences", "differing_file_names")}
    return VerificationFindings(**(result | tuple_by_field))


async def compute_signatures_in_child_process(
    scope: SoftwareScope, algorithm: SignatureAlgorithm, seed: bytes, components: tuple[str, ...]
) -> dict[str, str]:
    """Return the signatures of software components by name, computed in a separate process of low priority.

    Raises LocalError if that fails.
    """
    request = {"scope": asdict(scope), "algorithm": algorithm, "seed": seed.hex(), "components": components}
    return {str(name): str(value) for name, value in (await _run_in_child_process(request)).items()}


async def _run_in_child_process(request: Mapping[str, Any]) -> dict[str, Any]:
    """Start a child process that examines or signs the software, as the JSON ``request`` states.

    Return its result. If this coroutine is cancelled, the process is killed.
    """
    process = await asyncio.create_subprocess_exec(
        *build_python_command("egm.verify.examine"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, errors = await process.communicate(json.dumps(request).encode())
    except BaseException:  # cancelled: the result is no longer needed
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        lines = errors.decode(errors="replace").strip().splitlines() or [f"status {process.returncode}"]
        raise LocalError(f"the software could not be read: {lines[-1]}")
    result: dict[str, object] = json.loads(output)
    return result


def _execute_request(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Examine or sign the software, as the JSON ``request`` states, and return the result as JSON."""
    if "manifest" in request:
        own_files = tuple((name, path) for name, path in request["own_files"])
        return asdict(verify_software_files(Path(request["manifest"]), request["public_key"], own_files))
    scope_data = request["scope"]
    definitions = tuple((name, path) for name, path in scope_data["cabinet_definitions"])
    scope = SoftwareScope(**(scope_data | {"cabinet_definitions": definitions}))
    seed = bytes.fromhex(request["seed"])
    return compute_signatures(
        list_software_files(scope), SignatureAlgorithm(request["algorithm"]), seed, request["components"]
    )


def main() -> None:
    """Read a request (to examine or sign) as JSON from standard input, execute it, and print the result as JSON."""
    try:
        require_isolated_mode("egm.verify.examine")
        os.nice(_PRIORITY_DECREASE)
        result = _execute_request(json.load(sys.stdin))
    except (LocalError, OperatorError) as error:
        sys.exit(str(error))
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
