"""``python -m tools.dev.conformance``: write the conformance pages, or report stale ones."""

import click

from tools.cli.terminal import echo
from tools.dev.conformance.evidence import EvidenceError, collect
from tools.dev.conformance.page import PAGES_FOLDER, format_pages
from tools.dev.conformance.requirements import ROOT, RequirementsError, load
from tools.dev.conformance.sas import format_sas_page
from tools.dev.freshness import write_or_check_pages


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a page is stale.")
def main(*, check: bool) -> None:
    """Write CONFORMANCE.md, one page per group, and the page of the SAS tables: each row with its tests.

    Rejects a row that is not shown and gives no reason, and a row of a regulation with tests but without a mutant.
    """
    try:
        requirements = load()
        evidence = collect(requirements)
        text_by_path = {ROOT / path: text for path, text in format_pages(requirements, evidence).items()}
        text_by_path[ROOT / "egm/links/sas/CONFORMANCE.md"] = format_sas_page(evidence)
    except (RequirementsError, EvidenceError) as error:
        raise click.ClickException(str(error)) from error
    complaints = [text for row in requirements.rows.values() for text in evidence.list_shortfalls(row)]
    if complaints:
        raise click.ClickException("tests/conformance/requirements.toml:\n" + "\n".join(complaints))
    uncommitted_pages = {
        path: text for path, text in text_by_path.items() if path.is_relative_to(ROOT / PAGES_FOLDER)
    }
    for path, text in {} if check else uncommitted_pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if not check:
        echo(f"{len(uncommitted_pages)} pages written into {PAGES_FOLDER}/")
    committed_pages = {path: text for path, text in text_by_path.items() if path not in uncommitted_pages}
    write_or_check_pages(committed_pages, check=check, command_name="make conformance")


if __name__ == "__main__":
    main()
