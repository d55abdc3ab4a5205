"""``python -m tools.dev``: the developer commands of a checkout."""

import sys

import click

from tools.cli import CommandGroup
from tools.dev.commands import COMMANDS


@click.group(
    cls=CommandGroup,
    module_and_help_by_command=COMMANDS,
    package="tools.dev.commands",
    context_settings={"help_option_names": ["-h", "--help"]},
)
def main() -> None:
    """Run a developer command; `make` runs the benchmarks, mutants and generated pages."""


if __name__ == "__main__":
    sys.exit(main(prog_name="python -m tools.dev"))
