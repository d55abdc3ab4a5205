"""``egm manual``: the operator's and the service manual, from the machine's own tables."""

from pathlib import Path

import click

from egm.screen.text import LOCALES
from tools.cli.terminal import echo
from tools.lab.manual import AUDIENCES, manual


@click.command()
@click.argument("audience", type=click.Choice(AUDIENCES))
@click.option("--language", type=click.Choice(sorted(LOCALES)), default="en", show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write there instead.")
def command(audience: str, language: str, out: Path | None) -> None:
    """Print a manual as a Markdown page: faults and who clears them, menus, forms, denominations, clears."""
    text = manual(audience, language)
    if out is None:
        echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
