"""``egm manifest``: the manufacturer's tools for signed software, and a check for anybody.

The manufacturer creates a key once (and stores it on no machine), makes a manifest of each release where that
release is installed, and signs it. The cabinet file then names the manifest and pins the public key.
"""

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click

from egm.config.cabinet_file import CabinetFile, load_cabinet
from egm.errors import LocalError, OperatorError
from egm.private_files import require_private_files, write_private_file
from egm.progressive.definition import create_level_source, list_level_and_game_files
from egm.verify.digest import compute_digests
from egm.verify.examine import verify_software_files
from egm.verify.manifest import (
    SoftwareManifest,
    create_signing_key,
    encode_signed_manifest,
    encode_unsigned_manifest,
    format_public_key,
    read_signing_key,
)
from egm.verify.own_files import list_own_definition_files
from egm.verify.software_files import SoftwareScope, list_software_files, list_uncompiled_modules
from paytables.source import read_contents
from paytables.wording import format_count
from tools.cli.result_file import describe_file_error, write_result
from tools.cli.tables import OutputFormat, Table, add_format_options, show
from tools.cli.terminal import echo

#: The type of an argument that names a file.
_FILE_TYPE = click.Path(path_type=Path, dir_okay=False)
#: The type of an argument that names an existing file.
_EXISTING_FILE_TYPE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.group()
def command() -> None:
    """Make, sign and verify the manifest of the installed software."""


@command.command("key")
@click.argument("file", type=_FILE_TYPE)
def make_key(file: Path) -> None:
    """Create a manufacturer's key in FILE (PEM, PKCS #8) and print its public half, for cabinet files.

    This file can sign software for every machine that pins the key: never store it on a machine.
    """
    pem = create_signing_key()
    try:
        write_private_file(file, pem)
    except OSError as error:
        raise click.ClickException(describe_file_error(file, error)) from error
    echo(format_public_key(read_signing_key(pem, str(file))))


@command.command("make")
@click.option(
    "--out", "output_file", type=_FILE_TYPE, required=True, help="The file for the unsigned manifest."
)
@click.option(
    "--cabinet", type=_EXISTING_FILE_TYPE, help="A cabinet file whose custom games and profile are included."
)
@click.option(
    "--levels",
    "level_files",
    type=_EXISTING_FILE_TYPE,
    multiple=True,
    help="A controller's level file; repeat for more.",
)
@click.option(
    "--reason", default="", help="The reason for this release; recorded on the machines that install it."
)
@click.option(
    "--libraries/--no-libraries",
    default=True,
    show_default=True,
    help="Include everything else installed in this environment.",
)
@click.option(
    "--bytecode/--no-bytecode",
    default=True,
    show_default=True,
    help="Include compiled modules. --no-bytecode ignores them: only for checkouts.",
)
def make(
    *,
    output_file: Path,
    cabinet: Path | None,
    level_files: tuple[Path, ...],
    reason: str,
    libraries: bool,
    bytecode: bool,
) -> None:
    """Write to OUT a manifest: the SHA-256 of every file of the software installed here."""
    try:
        own_files = list_own_definition_files(load_cabinet(cabinet))
        for path in level_files:
            own_files += list_level_and_game_files(create_level_source(path))
        software_scope = SoftwareScope(
            cabinet_definitions=own_files, includes_libraries=libraries, includes_bytecode=bytecode
        )
        software_files = list_software_files(software_scope)
        if symbolic_links := [name for name, path in software_files.items() if path.is_symlink()]:
            raise OperatorError(
                f"{symbolic_links[0]} is a symbolic link. Its target could change without the link: "
                "replace it by the file itself"
            )
        if bytecode and (uncompiled_modules := list_uncompiled_modules(software_files)):
            raise OperatorError(
                f"{uncompiled_modules[0]} is not compiled, and would be compiled at first use. "
                "Run `python -m compileall --invalidation-mode unchecked-hash` on the packages first, "
                "or give --no-bytecode"
            )
        manifest = SoftwareManifest(
            version=version("open-egm"),
            made_utc=datetime.now(UTC).isoformat(timespec="seconds"),
            reason=reason,
            includes_libraries=libraries,
            includes_bytecode=bytecode,
            files=compute_digests(software_files),
        )
    except (OperatorError, LocalError, OSError) as error:
        raise click.ClickException(str(error)) from error
    write_result(output_file, encode_unsigned_manifest(manifest), format_count(len(manifest.files), "file"))


@command.command("sign")
@click.argument("manifest", type=_EXISTING_FILE_TYPE)
@click.option(
    "--key",
    type=_EXISTING_FILE_TYPE,
    required=True,
    help="The manufacturer's key, made by `egm manifest key`.",
)
def sign_manifest(manifest: Path, key: Path) -> None:
    """Sign the software MANIFEST; the signature is added to the same file."""
    try:
        require_private_files(key)
        signed_manifest = encode_signed_manifest(
            read_contents(manifest), read_signing_key(read_contents(key), str(key)), str(manifest)
        )
    except (OperatorError, OSError) as error:
        raise click.ClickException(str(error)) from error
    write_result(manifest, signed_manifest, "signed")


@command.command("verify")
@click.option("--cabinet", type=_EXISTING_FILE_TYPE, help="The cabinet file that pins manifest and key.")
@click.option("--manifest", type=_EXISTING_FILE_TYPE, help="Verify this manifest instead of the pinned one.")
@click.option("--key", metavar="HEX", help="Use this public key instead of the pinned one.")
@add_format_options
def verify(
    *, cabinet: Path | None, manifest: Path | None, key: str | None, output_format: OutputFormat
) -> None:
    """Compare the software installed here with a signed manifest; status 1 if anything differs."""
    try:
        cabinet_file = load_cabinet(cabinet)
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
    manifest_path, public_key = _find_manifest_and_key(cabinet_file, manifest, key)
    findings = verify_software_files(manifest_path, public_key, list_own_definition_files(cabinet_file))
    if not findings.matches_manifest:
        raise click.ClickException("\n".join(findings.differences))
    title = f"{findings.version}, signed by {findings.signer}"
    show(output_format, Table(("component", "sha256"), (findings.components or {}).items(), title=title))


def _find_manifest_and_key(
    cabinet_file: CabinetFile, manifest: Path | None, key: str | None
) -> tuple[Path, str]:
    """Return the manifest's path and the public key in hexadecimal: as given, else from the cabinet file."""
    software_table = cabinet_file.software
    manifest = manifest or (software_table.manifest if software_table else None)
    key = key or (software_table.manufacturer_key_hex if software_table else None)
    if manifest is None or key is None:
        raise click.ClickException("the cabinet file has no [software]: give --manifest and --key")
    try:
        if len(bytes.fromhex(key)) == 32:
            return manifest, key
    except ValueError:
        pass
    raise click.BadParameter("must be 64 hexadecimal digits", param_hint="--key")
