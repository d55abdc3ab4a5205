"""``egm manual``: the operator's and the service manual, from the machine's own tables."""

from importlib.metadata import version
from pathlib import Path

import click

from egm.screen.text import LOCALE_BY_LANGUAGE
from tools.cli.result_file import write_result
from tools.cli.tables import show_progress
from tools.cli.terminal import echo
from tools.lab.manual import AUDIENCES, format_manual


@click.command()
@click.argument("audience", type=click.Choice(AUDIENCES))
@click.option(
    "--language",
    type=click.Choice(sorted(LOCALE_BY_LANGUAGE)),
    default="en",
    show_default=True,
    help="The language of the text.",
)
@click.option(
    "--out",
    "output_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to FILE instead of the terminal; a name that ends in .pdf makes a PDF.",
)
def command(audience: str, language: str, output_file: Path | None) -> None:
    """Print a manual: faults, what to do and who clears them, menu, forms, meters, wiring, events.

    A Markdown page, or with --out FILE.pdf a PDF (which needs the laboratory's packages: `make setup-dev`).
    """
    if output_file is None:
        echo(format_manual(audience, language), nl=False)
    elif output_file.suffix.lower() == ".pdf":
        from tools.lab.manual_pdf import build_pdf  # noqa: PLC0415 (matplotlib is a laboratory package)

        with show_progress(f"setting the {audience} manual"):
            pdf = build_pdf(audience, language, version("open-egm"))
        write_result(output_file, pdf)
    else:
        write_result(output_file, format_manual(audience, language))
