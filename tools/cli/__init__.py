"""The ``egm`` command: a click group that imports each command's module when it is called.

Before any other import it restarts itself in isolated mode (:mod:`egm.isolated`), so that no module comes
from ``PYTHONPATH`` or the working directory. Code that the first interpreter runs before the restart (a
``sitecustomize``, another ``tools``) is a known limit (ARCHITECTURE.md, "Start of a program"). It gives nobody more
rights, because a person who sets the environment could have started any other program as well.
"""

import os
import sys

if not sys.flags.isolated and (
    os.path.basename(sys.argv[0]) == "egm"  # noqa: PTH119
    or (sys.argv[0] == "-m" and "tools.cli" in sys.orig_argv)
):
    # Pass on -B (write no compiled modules).
    interpreter_options = ["-B"] if sys.dont_write_bytecode else []
    os.execv(sys.executable, [sys.executable, "-I", *interpreter_options, "-m", "tools.cli", *sys.argv[1:]])  # noqa: S606

import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from egm.garbage_collector import pause_garbage_collector
from tools.cli.commands import MODULE_AND_HELP_BY_COMMAND
from tools.cli.result_file import describe_file_error
from tools.cli.terminal import make_lines_printable

# Keep the screen library's greeting out of every command's output.
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
# Neither search for nor load packages that would change how files are validated.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# Start no threads for products of matrices: no matrix is large enough to need them, and starting them takes a quarter
# of the time of a short command.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class CommandGroup(click.Group):
    """A command group that lists its commands in a table and imports each on first use.

    ``module_and_help_by_command`` maps each command's name to its module in ``package`` and its one-line help. A
    missing Python package, or a file or folder that the system refuses, is reported in one line.
    """

    def __init__(
        self, *, module_and_help_by_command: Mapping[str, tuple[str, str]], package: str, **attributes: Any
    ) -> None:
        super().__init__(**attributes)
        self._module_and_help_by_command, self._package = module_and_help_by_command, package

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. Raises ClickException for a missing Python package or a file error."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            extra_name = _EXTRA_BY_PACKAGE.get((error.name or "").partition(".")[0])
            if extra_name is None:
                raise
            raise click.ClickException(
                f"this command needs {error.name}, which is not installed. In a checkout: make setup-dev;"
                f" elsewhere: pip install 'open-egm[{extra_name}]'"
            ) from None
        except OSError as error:
            if error.filename is None:
                raise
            raise click.ClickException(make_lines_printable(_format_os_error(error))) from None
        except click.ClickException as error:
            message, cause = error.message, error.__context__
            if isinstance(cause, OSError) and message == str(cause):
                message = _format_os_error(cause)
            error.message = make_lines_printable(message)  # type: ignore[misc] # it may state what a file contains
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name of the command that the first argument selects, the command, and the other arguments.

        Raises NoSuchCommand, which suggests similar names of commands.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(
                error.command_name, possibilities=self._module_and_help_by_command, ctx=ctx
            ) from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the names of the group's commands, sorted."""
        return sorted(self._module_and_help_by_command)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return the command with that name, or return None if the group has none."""
        if cmd_name not in self._module_and_help_by_command:
            return None
        with pause_garbage_collector():
            module = importlib.import_module(
                f"{self._package}.{self._module_and_help_by_command[cmd_name][0]}"
            )
        command: click.Command = module.command
        for subcommand in getattr(command, "commands", {}).values():
            # click would cut the help at 45 characters, or after an abbreviation such as "art."
            subcommand.short_help = find_first_sentence(subcommand.help or "")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands with their one-line helps, without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, self._module_and_help_by_command[name][1])
                    for name in sorted(self._module_and_help_by_command)
                ]
            )


def find_first_sentence(help_text: str) -> str:
    """Return the first sentence of a command's help.

    A sentence ends at a full stop before a capital letter, or at a blank line.
    """
    paragraph = " ".join(help_text.split("\n\n", 1)[0].split())
    return re.split(r"(?<=[.]) (?=[A-Z])", paragraph, maxsplit=1)[0]


def _format_os_error(error: OSError) -> str:
    """Return a file error as text: the file's name, if it has one, and the reason without the error number."""
    if isinstance(error.filename, str):
        return describe_file_error(Path(error.filename), error)
    reason = error.strerror or str(error)
    return reason if error.filename is None else f"{error.filename}: {reason}"


#: Packages that are not installed with a cabinet: import name -> the extra that installs it.
_EXTRA_BY_PACKAGE = {
    "apsw": "dev",
    "hypothesis": "dev",
    "jinja2": "lab",
    "matplotlib": "lab",
    "numba": "lab",
    "numpy": "lab",
    "psycopg": "controller",
    "pypdfium2": "dev",
    "pytest": "dev",
    "scipy": "lab",
}


@click.group(
    cls=CommandGroup,
    module_and_help_by_command=MODULE_AND_HELP_BY_COMMAND,
    package="tools.cli.commands",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="open-egm", prog_name="egm")
def main() -> None:
    """Run and manage an open electronic gaming machine."""
