"""The ``egm`` command: a click group that loads each command's module when it is called.

Before anything else is imported it starts itself again isolated (:mod:`egm.isolated`): neither ``PYTHONPATH``
nor the working directory gives it a module. What the first interpreter ran until here (a ``sitecustomize``,
another ``tools``) is whose who set its environment, who could have started anything else as well.
"""

import os
import sys

if not sys.flags.isolated and (
    os.path.basename(sys.argv[0]) == "egm"  # noqa: PTH119
    or (sys.argv[0] == "-m" and "tools.cli" in sys.orig_argv)
):
    unwritten = ["-B"] if sys.dont_write_bytecode else []
    os.execv(sys.executable, [sys.executable, "-I", *unwritten, "-m", "tools.cli", *sys.argv[1:]])  # noqa: S606

import importlib
from collections.abc import Mapping
from typing import Any

import click

from egm.collector import collector_paused
from tools.cli.commands import COMMANDS
from tools.cli.terminal import lines

#: No command's output begins with a greeting of the screen's library.
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
#: No package of the environment changes how files are validated, and none is searched for one that would.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


class CommandGroup(click.Group):
    """A group whose commands are named by a table and imported on first use.

    ``table``: each command's module in ``package``, and its line in the help.

    What a command cannot have is said in one line, by every command alike: a package that is not installed
    with a cabinet, a file or folder the system refuses.
    """

    def __init__(self, *, table: Mapping[str, tuple[str, str]], package: str, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._table, self._package = table, package

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. Raises ClickException for what cannot be had."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            extra = _EXTRA_OF.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            raise click.ClickException(
                f"this takes {error.name}, which a cabinet does not have. In a checkout: make setup-dev;"
                f" elsewhere: pip install 'open-egm[{extra}]'"
            ) from None
        except OSError as error:
            if error.filename is None:
                raise
            raise click.ClickException(lines(_refused(error))) from None
        except click.ClickException as error:
            told, system = error.message, error.__context__
            if isinstance(system, OSError) and told == str(system):
                told = _refused(system)
            error.message = lines(told)  # type: ignore[misc] # it may tell what stands in a file
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. Raises NoSuchCommand, with the names of the table that are near."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=self._table, ctx=ctx) from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """The names of the table, sorted."""
        return sorted(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, its module imported now."""
        if cmd_name not in self._table:
            return None
        with collector_paused():
            module = importlib.import_module(f"{self._package}.{self._table[cmd_name][0]}")
        command: click.Command = module.command
        for each in getattr(command, "commands", {}).values():
            each.short_help = each.get_short_help_str(limit=_SENTENCE)  # whole: click would cut it at 45
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The lines of the table: nothing is imported for them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._table[name][1]) for name in sorted(self._table)])


def _refused(error: OSError) -> str:
    """What the system refused: the file where it is one, and why, without the number of the error."""
    why = error.strerror or str(error)
    return why if error.filename is None else f"{error.filename}: {why}"


#: No first sentence of a help is longer, in characters.
_SENTENCE = 1_000
#: Packages that are not installed with a cabinet: import name -> the extra that has it.
_EXTRA_OF = {
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
    table=COMMANDS,
    package="tools.cli.commands",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="open-egm", prog_name="egm")
def main() -> None:
    """An open electronic gaming machine."""
