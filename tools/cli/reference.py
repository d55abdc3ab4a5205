"""The reference page of all ``egm`` commands, built from their help texts."""

import inspect
from collections.abc import Iterator
from typing import Final

import click

from tools.cli import main
from tools.lab.markdown import format_table

#: The character that keeps click from wrapping a paragraph of a help text.
_NO_WRAP_MARK: Final = "\b"


def format_command_reference() -> str:
    """Return the reference of every ``egm`` command: help, usage and options."""
    with click.Context(main, info_name="egm") as context:
        return "\n\n".join(_iter_reference_blocks(context, main))


def _iter_reference_blocks(context: click.Context, command: click.Command) -> Iterator[str]:
    """Yield the Markdown blocks about one command and all its subcommands."""
    usage = command.collect_usage_pieces(context)
    yield f"{'#' * (context.command_path.count(' ') + 2)} `{context.command_path}`"
    yield _format_help(command)
    yield f"```\n{' '.join([context.command_path, *usage])}\n```"
    records = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    # click lists arguments among the options; those without a help text are already in the usage line
    options = [[f"`{name}`", text] for name, text in records if text and "--help" not in name]
    if options:
        yield format_table(["Option", "Meaning"], options)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            if subcommand is None:
                raise LookupError(f"{context.command_path} lists {name!r}, but has no such command")
            if not subcommand.hidden:
                yield from _iter_reference_blocks(
                    click.Context(subcommand, info_name=name, parent=context), subcommand
                )


def _format_help(command: click.Command) -> str:
    """Return a command's help as Markdown; paragraphs with fixed line breaks become code blocks."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    texts = (inspect.cleandoc(paragraph) for paragraph in paragraphs)
    return "\n\n".join(
        f"```\n{text.removeprefix(_NO_WRAP_MARK).strip()}\n```" if text.startswith(_NO_WRAP_MARK) else text
        for text in texts
    )
