"""The ``egm`` command: a click group that loads each command's module when it is called."""

import importlib
import sys

import click

from tools.commands import COMMANDS


class _LazyGroup(click.Group):
    """A group whose commands are named by a table and imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"tools.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="open-egm", prog_name="egm")
def main() -> None:
    """An open electronic gaming machine."""


if __name__ == "__main__":
    sys.exit(main())
