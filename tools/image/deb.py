"""The Debian package of the cabinet: ``make deb``.

Everything that the cabinet runs is in ``/opt/open-egm``: a virtual environment of Debian's own Python with
the wheels that ``requirements.txt`` names by digest, and this project's wheel. Wheels are for one minor
version of Python, so there is one set for each supported Debian release. Nothing is downloaded where the
package is installed; its ``postinst`` compiles the modules for the installed Python, and compiles them again
when that Python changes (a dpkg trigger). The same inputs give the same bytes: files have the time of the last
commit (or ``SOURCE_DATE_EPOCH``).
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import IO, Final

import click

from egm.config.cabinet_file import DEFAULT_CABINET
from egm.errors import OperatorError
from egm.terminal import echo

#: The folder with the files of the package.
_PACKAGE_FILES_FOLDER: Final = Path(__file__).parent / "debian"
#: The root folder of the source.
_SOURCE_ROOT: Final = Path(__file__).parents[2]
#: The package's name.
_PACKAGE_NAME: Final = "open-egm"
#: The folder into which everything that the cabinet runs is installed.
_INSTALL_FOLDER: Final = f"opt/{_PACKAGE_NAME}"
#: Where each file of the package's folder is installed.
_TARGET_BY_FILE: Final = {
    "egm": "usr/bin/egm",
    "open-egm.sysusers": "usr/lib/sysusers.d/open-egm.conf",
    "open-egm.tmpfiles": "usr/lib/tmpfiles.d/open-egm.conf",
    "open-egm.modules-load": "usr/lib/modules-load.d/open-egm.conf",
    "70-open-egm.rules": "usr/lib/udev/rules.d/70-open-egm.rules",
    "shut-in.conf": "usr/lib/systemd/system/open-egm-.service.d/shut-in.conf",
    **{
        f"open-egm{unit}": f"usr/lib/systemd/system/open-egm{unit}"
        for unit in (
            ".target",
            "-bench.service",
            "-machine.service",
            "-screen.service",
            "-page.service",
            "-page.socket",
        )
    },
}
#: The files of the package that may be executed.
_EXECUTABLE_FILES: Final = frozenset({"egm", "postinst", "prerm", "postrm"})
#: The beginning of a pip command.
_PIP_COMMAND: Final = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
#: The Pythons of the supported Debian releases, oldest first: 12 and 13.
_PYTHON_VERSIONS: Final = ("3.11", "3.13")


@contextmanager
def set_plain_umask() -> Iterator[None]:
    """Set a umask with which everybody can read new files; restore the previous one at the end."""
    previous_umask = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(previous_umask)


@set_plain_umask()
def build(output_folder: Path, *, compression: str = "xz") -> Path:
    """Build the package into the folder ``output_folder``; return its file. Raises OperatorError if a step fails.

    ``compression`` is dpkg-deb's; ``none`` saves minutes for a package that is only used on this computer.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or read_command_output("git", "log", "-1", "--format=%ct")
    architecture = read_command_output("dpkg", "--print-architecture")
    package_version = format_version(epoch)
    package = output_folder / f"{_PACKAGE_NAME}_{package_version}_{architecture}.deb"
    unfinished_package = package.with_suffix(".part")
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "root"
        _build_environment(root / _INSTALL_FOLDER, Path(scratch), epoch)
        for name, target in _TARGET_BY_FILE.items():
            _copy_file(_PACKAGE_FILES_FOLDER / name, root / target)
        _copy_file(DEFAULT_CABINET, root / "etc" / _PACKAGE_NAME / "cabinet.toml")
        for page in list_pages():
            _copy_file(_SOURCE_ROOT / page, root / "usr/share/doc" / _PACKAGE_NAME / page)
        control = root / "DEBIAN"
        control.mkdir()
        text = (_PACKAGE_FILES_FOLDER / "control").read_text(encoding="utf-8")
        (control / "control").write_text(
            text.format(
                version=package_version,
                architecture=architecture,
                pythons=format_python_dependencies(_PYTHON_VERSIONS),
            ),
            encoding="utf-8",
        )
        interests = "".join(f"interest-noawait /usr/bin/python{python}\n" for python in _PYTHON_VERSIONS)
        (control / "triggers").write_text(interests, encoding="utf-8")
        (control / "conffiles").write_text(f"/etc/{_PACKAGE_NAME}/cabinet.toml\n", encoding="utf-8")
        for script in ("postinst", "prerm", "postrm"):
            _copy_file(_PACKAGE_FILES_FOLDER / script, control / script)
        output_folder.mkdir(parents=True, exist_ok=True)
        run(
            "dpkg-deb",
            "--root-owner-group",
            f"-Z{compression}",
            "--build",
            str(root),
            str(unfinished_package),
            epoch=epoch,
        )
    unfinished_package.replace(package)  # a build that is interrupted leaves no package that looks whole
    return package


def format_version(epoch: str) -> str:
    """Return the package's version: the project's version and the time of the commit, by which apt orders builds."""
    return f"{version(_PACKAGE_NAME)}+{datetime.fromtimestamp(int(epoch), UTC):%Y%m%d%H%M%S}"


def list_pages() -> list[Path]:
    """Return the paths of the licence and the Markdown pages to install, relative to the root of the source."""
    package_names = {"docs", *(path.parent.name for path in _SOURCE_ROOT.glob("*/__init__.py"))} - {"tests"}
    pages = [
        *_SOURCE_ROOT.glob("*.md"),
        *(page for name in package_names for page in (_SOURCE_ROOT / name).rglob("*.md")),
    ]
    return [Path("LICENSE"), *sorted(page.relative_to(_SOURCE_ROOT) for page in pages)]


def _build_environment(home: Path, scratch: Path, epoch: str) -> None:
    """Create in ``home`` a virtual environment of Debian's Python with the wheels of every supported Python version.

    ``epoch`` is the time of all files, in seconds since 1970. No file contains the path of the build folder.
    """
    (home / "bin").mkdir(parents=True)
    for name in ("python", "python3"):
        (home / "bin" / name).symlink_to("/usr/bin/python3")
    (home / "pyvenv.cfg").write_text(
        "home = /usr/bin\ninclude-system-site-packages = false\n", encoding="utf-8"
    )
    run(
        *_PIP_COMMAND,
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(scratch),
        str(_SOURCE_ROOT),
        epoch=epoch,
    )
    (wheel,) = scratch.glob("*.whl")
    for python in _PYTHON_VERSIONS:
        _install_wheels(home / "lib" / f"python{python}" / "site-packages", python, wheel, epoch)


def _install_wheels(packages: Path, python: str, wheel: Path, epoch: str) -> None:
    """Install in ``packages`` the required wheels for one minor version of Python, and this project's ``wheel``.

    Modules are not compiled.
    """
    packages.mkdir(parents=True)
    install_options = (
        "install",
        "--no-compile",
        "--no-deps",
        "--only-binary=:all:",
        "--python-version",
        python,
    )
    requirement_options = ("--require-hashes", "-r", str(_SOURCE_ROOT / "requirements.txt"))
    run(*_PIP_COMMAND, *install_options, "--target", str(packages), *requirement_options, epoch=epoch)
    run(*_PIP_COMMAND, *install_options, "--target", str(packages), "--no-index", str(wheel), epoch=epoch)
    shutil.rmtree(packages / "bin", ignore_errors=True)
    # direct_url.json contains the wheel's build folder; RECORD lists the removed scripts, whose digests depend on the
    # path of the builder's Python.
    for url_file in packages.glob("*.dist-info/direct_url.json"):
        url_file.unlink()
    for record in packages.glob("*.dist-info/RECORD"):
        lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
        kept_lines = (
            line for line in lines if "direct_url.json" not in line and not line.startswith("../../bin/")
        )
        record.write_text("".join(kept_lines), encoding="utf-8")


def format_python_dependencies(python_versions: Sequence[str]) -> str:
    """Return the package's Debian dependency on Python: any of the minor versions given in ascending order."""
    relations = [f"python3 (>= {python_versions[0]})"]
    for python, following in pairwise(python_versions):
        if _find_next_python(python) != following:
            relations.append(f"python3 (<< {_find_next_python(python)}) | python3 (>= {following})")
    return ", ".join([*relations, f"python3 (<< {_find_next_python(python_versions[-1])})"])


def _find_next_python(python_version: str) -> str:
    """Return the minor version of Python after this one, such as "3.12" after "3.11"."""
    major, minor = python_version.split(".")
    return f"{major}.{int(minor) + 1}"


def _copy_file(source: Path, target: Path) -> None:
    """Copy a file into the package, with the access rights that an installed file must have."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.name in _EXECUTABLE_FILES else 0o644)


def read_command_output(*command: str) -> str:
    """Run a command and return its output without the trailing newline."""
    return run(*command).strip()


def run(
    *command: str, epoch: str = "", stdin: IO[bytes] | None = None, variables: Mapping[str, str] | None = None
) -> str:
    """Run a command and return its output; ``variables`` is added to its environment.

    Raises OperatorError if the command is not installed or fails, in that case with the last lines of its output.
    """
    fixed_variables = {
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }  # the disk image, which uses this function, has a FAT: it stores local times
    environment = {
        **os.environ,
        **fixed_variables,
        **({"SOURCE_DATE_EPOCH": epoch} if epoch else {}),
        **(variables or {}),
    }
    try:
        return subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            cwd=_SOURCE_ROOT,
            env=environment,
            stdin=stdin,
        ).stdout
    except FileNotFoundError as error:
        raise OperatorError(
            f"{command[0]}: is not installed on this computer; build the package on Debian"
        ) from error
    except subprocess.CalledProcessError as error:
        last_lines = (error.stderr or error.stdout).strip().splitlines()[-5:]
        raise OperatorError(f"{' '.join(command[:4])}: {' / '.join(last_lines)}") from error


def install_missing_packages(packages: Sequence[str]) -> None:
    """Install the Debian packages that this computer lacks, and print their names. Raises OperatorError."""
    output_format = "${Package} ${db:Status-Status}\n"
    status_lines = run("dpkg-query", "--show", f"--showformat={output_format}", "*").splitlines()
    installed_packages = {line.split()[0] for line in status_lines if line.endswith(" installed")}
    missing_packages = [name for name in packages if name not in installed_packages]
    if not missing_packages:
        return
    echo(f"installing Debian's packages {' '.join(missing_packages)}")
    as_root = () if os.geteuid() == 0 else ("sudo",)
    run(*as_root, "apt-get", "update", "--quiet")
    run(*as_root, "apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *missing_packages)


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=_SOURCE_ROOT / "build")
def main(out: Path) -> None:
    """Build the Debian package of the cabinet."""
    try:
        echo("building the package: downloading the wheels, which takes minutes", err=True)
        package = build(out)
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
    echo(f"{package} ({package.stat().st_size / 1e6:.0f} MB)")


if __name__ == "__main__":
    main()
