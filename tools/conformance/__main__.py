"""``python -m tools.conformance``: write the conformance pages, or say which of those committed is stale."""

import click

from tools.conformance.evidence import EvidenceError, collect
from tools.conformance.page import page
from tools.conformance.requirements import ROOT, RequirementsError, load
from tools.conformance.sas import sas_page
from tools.freshness import deliver


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a page is not what it should be.")
def main(*, check: bool) -> None:
    """Write CONFORMANCE.md, and the same for the tables of SAS: each row and the tests that show it."""
    try:
        requirements = load()
        evidence = collect(requirements)
        pages = {
            ROOT / "CONFORMANCE.md": page(requirements, evidence),
            ROOT / "egm/sas/CONFORMANCE.md": sas_page(evidence),
        }
    except (RequirementsError, EvidenceError) as error:
        raise click.ClickException(str(error)) from error
    deliver(pages, check=check, verb="make conformance")


if __name__ == "__main__":
    main()
