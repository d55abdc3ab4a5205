"""The image of a machine: ``make image``.

The build writes into one folder:

* ``open-egm.img``, a disk with two system slots, of which the first has a release, and with the first state medium;
* ``second.img``, the second state medium;
* ``open-egm.bundle``, the same release as a signed update.

The same Debian packages and the same commit give the same bytes. The contents of the image are listed in
``image.toml``. The build needs root rights, or one of the alternatives that ``mmdebstrap`` accepts.
"""

import os
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import click

from egm.errors import OperatorError
from egm.private_files import write_private_file
from egm.terminal import echo
from egm.verify.manifest import create_signing_key, format_public_key, read_signing_key
from tools.image import deb, slot

#: The folder with the files of the image.
_IMAGE_FILES_FOLDER: Final = Path(__file__).parent
#: The root folder of the source.
_SOURCE_ROOT: Final = _IMAGE_FILES_FOLDER.parents[1]
#: The content of the image, from ``image.toml``: packages, modules, units, the kernel's command line, the partitions.
IMAGE_CONTENT: Final[Mapping[str, Any]] = tomllib.loads(
    (_IMAGE_FILES_FOLDER / "image.toml").read_text(encoding="utf-8")
)
#: Bytes in a MiB.
_MIB: Final = 1 << 20
#: The size in MiB of each partition, in their order.
PARTITION_SIZE_MIB: Final[dict[str, int]] = {one["name"]: one["mib"] for one in IMAGE_CONTENT["partitions"]}
#: Size of a state medium, in MiB.
_STATE_MEDIUM_SIZE_MIB: Final = 1024
#: The fixed UUIDs of the image's parts, which differ only in the last digit: 0 the disk, 1 to 5 the partitions in their
#: order, 6 and 7 the file systems of the two state media, 9 the hash tree.
_UUID_TEMPLATE: Final = "0e6d0000-0000-4000-8000-00000000000{}"
#: Removes the package's modules for the Python versions of other Debian releases, which this release does not have.
_REMOVE_OTHER_PYTHONS_SCRIPT: Final = """\
for lib in "$1"/opt/open-egm/lib/python3.*; do [ -x "$1/usr/bin/${lib##*/}" ] || rm -r "$lib"; done"""
#: The EFI program that starts the kernel which is appended to it.
_EFI_STUB: Final = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub"


def compute_partition_offsets() -> dict[str, int]:
    """Return the offset in bytes of each partition on the machine's disk, by name."""
    offset, offsets = _MIB, {}
    for name, mib in PARTITION_SIZE_MIB.items():
        offsets[name] = offset
        offset += mib * _MIB
    return offsets


@deb.set_plain_umask()
def build(
    output_folder: Path, key_file: Path, *, overlays: tuple[Path, ...] = (), debug: bool = False
) -> Path:
    """Build the image, the second medium and the update bundle; return the path of the image. Raises OperatorError."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or deb.read_command_output("git", "log", "-1", "--format=%ct")
    key = read_signing_key(key_file.read_bytes(), str(key_file))
    output_folder.mkdir(parents=True, exist_ok=True)
    image, bundle = output_folder / "open-egm.img", output_folder / "open-egm.bundle"
    with tempfile.TemporaryDirectory(dir=output_folder) as scratch:
        work = Path(scratch)
        _build_root(work, overlays, format_public_key(key), epoch, debug=debug)
        image_by_name = {"root": work / "root.img", "esp": work / "esp.img"}
        root_hash, hash_offset = _append_hash_tree(image_by_name["root"], epoch)
        _build_esp(work, _build_kernel_command_line(root_hash, hash_offset, debug=debug), epoch)
        release_name = version("open-egm") + (" debug" if debug else "")
        slot.write_bundle(
            slot.sign_release(int(epoch), release_name, image_by_name, key), image_by_name, bundle
        )
        _build_disk(image, bundle, format_public_key(key), work, epoch)
        _build_medium(output_folder / "second.img", "egm-state-2", 2, epoch)
    return image


# ------------------------------------------------------------------ the root file system
def _build_root(
    work: Path, overlays: tuple[Path, ...], public_key_hex: str, epoch: str, *, debug: bool
) -> None:
    """Build the root file system with the cabinet's package, and copy the kernel and initramfs out of it."""
    package = deb.build(work, compression="none")
    trusted = work / "trusted"
    (trusted / "usr/share/open-egm").mkdir(parents=True)
    (trusted / "usr/share/open-egm/release.pub").write_text(f"{public_key_hex}\n", encoding="ascii")
    copied_folders = (
        _IMAGE_FILES_FOLDER / "root",
        *overlays,
        trusted,
        *((_IMAGE_FILES_FOLDER / "debug",) if debug else ()),
    )
    script = work / "customise"
    script.write_text(
        "\n".join(_iter_customise_lines(work, package, copied_folders, debug=debug)), encoding="utf-8"
    )
    script.chmod(0o755)
    package_names = (*IMAGE_CONTENT["packages"], *(IMAGE_CONTENT["debug_packages"] if debug else ()))
    deb.run(
        "mmdebstrap",
        "--variant=minbase",
        '--aptopt=Apt::Install-Recommends "false"',
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        f"--include={','.join(package_names)}",
        f'--customize-hook={script} "$1"',
        IMAGE_CONTENT["suite"],
        str(work / "root.tar"),
        epoch=epoch,
    )
    with (work / "root.tar").open("rb") as stream:
        packing_options = ("-tar", "-quiet", "-no-progress", "-noappend", "-comp", "zstd", "-b", "256K")
        paths_and_mode = ("-", str(work / "root.img"), "-root-mode", "0755")
        deb.run("mksquashfs", *paths_and_mode, *packing_options, epoch=epoch, stdin=stream)


def _iter_customise_lines(
    work: Path, package: Path, copied_folders: tuple[Path, ...], *, debug: bool
) -> Iterator[str]:
    """Yield the lines of the shell script that turns a new Debian system into a cabinet.

    The script receives the folder of the system as ``$1``. It copies the contents of ``copied_folders`` into that
    folder, one after the other, so that a later file replaces an earlier one.
    """
    yield "#!/bin/sh"
    yield "set -e"
    yield f'cp {package} "$1/tmp/open-egm.deb"'
    yield 'chroot "$1" apt-get install -y -q --no-install-recommends /tmp/open-egm.deb'
    yield _REMOVE_OTHER_PYTHONS_SCRIPT
    for folder in copied_folders:
        # Independent of the file modes in the checkout.
        pack_command = "tar --mode=u=rwX,go=rX --owner=0 --group=0 -c ."
        yield f'(cd {folder} && {pack_command}) | tar -xm --no-overwrite-dir -C "$1"'
    for name in IMAGE_CONTENT["masked"]:
        yield f'ln -sf /dev/null "$1/etc/systemd/system/{name}"'
    for unit, target in (
        IMAGE_CONTENT["started"] | (IMAGE_CONTENT["debug_started"] if debug else {})
    ).items():
        yield f'mkdir -p "$1/etc/systemd/system/{target}.wants"'
        yield f'ln -sf /usr/lib/systemd/system/{unit} "$1/etc/systemd/system/{target}.wants/{unit}"'
    for name in IMAGE_CONTENT["removed_modules"]:
        yield f'rm -rf "$1"/usr/lib/modules/*/kernel/{name}'
    yield 'chroot "$1" depmod -a "$(ls "$1/usr/lib/modules")"'
    yield 'chroot "$1" update-initramfs -u -k all'
    yield f'cp "$1"/boot/vmlinuz-* {work}/vmlinuz'
    yield f'cp "$1"/boot/initrd.img-* {work}/initrd'
    for name in IMAGE_CONTENT["removed"]:
        yield f'rm -rf "$1"{name}'
    yield 'rm -f "$1/etc/machine-id" && : > "$1/etc/machine-id"'  # empty: a new id at each start
    yield 'mkdir -p "$1/media/second" "$1/run" "$1/tmp" && chmod 1777 "$1/tmp"'
    if not debug:
        yield """sed -i 's,^root:[^:]*:,root:*:,' "$1/etc/shadow" """
        yield """sed -Ei 's,:/bin/(ba)?sh$,:/usr/sbin/nologin,' "$1/etc/passwd" """
    yield ""


# ------------------------------------------------------------------ hash tree, kernel command line, EFI program, disk
def _append_hash_tree(root: Path, epoch: str) -> tuple[str, int]:
    """Append the dm-verity hash tree to the root file system; return the tree's root hash and its offset in bytes."""
    hash_offset = root.stat().st_size
    fixed_options = (
        f"--hash-offset={hash_offset}",
        f"--uuid={_UUID_TEMPLATE.format(9)}",
        f"--salt={'00' * 32}",
    )
    output = deb.run("veritysetup", "format", *fixed_options, str(root), str(root), epoch=epoch)
    (root_hash,) = (
        line.split(":")[1].strip() for line in output.splitlines() if line.startswith("Root hash")
    )
    return root_hash, hash_offset


def _build_kernel_command_line(root_hash: str, hash_offset: int, *, debug: bool) -> str:
    """Return the kernel command line, which contains the root hash and the offset of the hash tree."""
    command_line_parts = (IMAGE_CONTENT["command_line"], IMAGE_CONTENT["debug_command_line"] if debug else "")
    return (
        f"{' '.join(filter(None, command_line_parts))} egm.roothash={root_hash} egm.hashoffset={hash_offset}"
    )


def _build_esp(work: Path, command_line: str, epoch: str) -> None:
    """Build an EFI system partition with one program: kernel, initramfs and ``command_line`` in one file."""
    (work / "cmdline").write_text(command_line, encoding="ascii")
    (work / "osrel").write_text('ID=open-egm\nNAME="Open EGM"\n', encoding="ascii")
    # The usual addresses for this stub: its own sections end below 128 KiB, and the kernel begins at 32 MiB or above.
    address, arguments = 0x20000, []
    for section, source in {
        ".osrel": "osrel",
        ".cmdline": "cmdline",
        ".linux": "vmlinuz",
        ".initrd": "initrd",
    }.items():
        address = max(address, 0x2000000) if section == ".linux" else address
        arguments += ["--add-section", f"{section}={work / source}"]
        arguments += ["--change-section-vma", f"{section}={address:#x}"]
        address += -(-(work / source).stat().st_size // 0x10000) * 0x10000
    # Without this option, objcopy writes the build time into the program.
    deb.run("objcopy", "--preserve-dates", *arguments, _EFI_STUB, str(work / "BOOTX64.EFI"), epoch=epoch)
    esp = work / "esp.img"
    with esp.open("wb") as stream:
        stream.truncate(PARTITION_SIZE_MIB["egm-esp-a"] * _MIB)
    deb.run("mkfs.fat", "--invariant", "-F", "32", "-i", "0e6d0001", "-n", "OPEN-EGM", str(esp), epoch=epoch)
    deb.run("mmd", "-i", str(esp), "::/EFI", "::/EFI/BOOT", epoch=epoch)
    deb.run("mcopy", "-i", str(esp), str(work / "BOOTX64.EFI"), "::/EFI/BOOT/BOOTX64.EFI", epoch=epoch)


def _build_disk(image: Path, bundle: Path, public_key_hex: str, work: Path, epoch: str) -> None:
    """Build the disk: partition table, the bundle in the first slot, an empty second slot, an empty state medium."""
    table = ["label: gpt", "label-id: " + _UUID_TEMPLATE.format(0), "first-lba: 2048"]
    for i, partition in enumerate(IMAGE_CONTENT["partitions"], 1):
        uuid = _UUID_TEMPLATE.format(i)
        table.append(
            f"size={partition['mib']}MiB, type={partition['type']}, name={partition['name']}, uuid={uuid}"
        )
    with image.open("wb") as stream:
        stream.truncate((sum(PARTITION_SIZE_MIB.values()) + 2) * _MIB)
    command = ("sfdisk", "--quiet", str(image))
    subprocess.run(command, input="\n".join(table), text=True, check=True, capture_output=True)
    partition_image_by_name = {name: work / name for name in ("egm-esp-a", "egm-root-a", "egm-state-1")}
    for name, path in partition_image_by_name.items():
        with path.open("wb") as stream:
            stream.truncate(PARTITION_SIZE_MIB[name] * _MIB)
    first_slot = slot.SystemSlot(partition_image_by_name["egm-esp-a"], partition_image_by_name["egm-root-a"])
    with bundle.open("rb") as stream:
        slot.install_release(
            stream, slot.read_bundle_release(stream, public_key_hex, 0, str(bundle)), first_slot, str(bundle)
        )
    _build_medium(partition_image_by_name["egm-state-1"], "egm-state-1", 1, epoch)
    for name, path in partition_image_by_name.items():
        position_options = (
            f"of={image}",
            "bs=1M",
            f"seek={compute_partition_offsets()[name] // _MIB}",
            "conv=notrunc,sparse",
        )
        deb.run("dd", f"if={path}", *position_options, "status=none")


def _build_medium(path: Path, label: str, medium_number: int, epoch: str) -> None:
    """Build an empty state medium with this label and number: a file system for the machine's memory."""
    path.unlink(missing_ok=True)
    with path.open("wb") as stream:
        stream.truncate(_STATE_MEDIUM_SIZE_MIB * _MIB)
    uuid = _UUID_TEMPLATE.format(medium_number + 5)
    options = f"hash_seed={uuid},root_owner=780:780,lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    time = {"E2FSPROGS_FAKE_TIME": epoch}
    deb.run(
        "mkfs.ext4",
        "-q",
        "-L",
        label,
        "-U",
        uuid,
        "-m",
        "0",
        "-E",
        options,
        str(path),
        epoch=epoch,
        variables=time,
    )


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=_SOURCE_ROOT / "build/image")
@click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The Ed25519 key (PEM) that signs the release. Default: release.pem beside the image, made if it is missing.",
)
@click.option(
    "--with",
    "overlays",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder laid over the root: etc/open-egm/cabinet.toml, udev rules, a network.",
)
@click.option(
    "--debug", is_flag=True, help="With a root shell on hvc0 and a verbose kernel; never for a venue."
)
def main(out: Path, key: Path | None, overlays: tuple[Path, ...], *, debug: bool) -> None:
    """Build the image of a machine and its update bundle."""
    try:
        signer = key or out / "release.pem"
        if key is None and not signer.exists():
            out.mkdir(parents=True, exist_ok=True)
            write_private_file(signer, create_signing_key())
            echo(f"{signer}: a new key to sign releases with. Keep it off every machine.")
        deb.install_missing_packages(IMAGE_CONTENT["builder"])
        echo("building the image: downloading and unpacking Debian, which takes minutes", err=True)
        image = build(out, signer, overlays=overlays or (_IMAGE_FILES_FOLDER / "qemu",), debug=debug)
    except (OperatorError, OSError) as error:
        raise click.ClickException(str(error)) from error
    echo(f"{image}{': DEBUG, with an open root shell on hvc0' if debug else ''}")


if __name__ == "__main__":
    main()
