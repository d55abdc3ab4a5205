"""``python -m tools.conformance``: write ``CONFORMANCE.md``, or say that the one committed is stale."""

import click

from tools.conformance.evidence import EvidenceError, collect
from tools.conformance.page import page
from tools.conformance.requirements import ROOT, RequirementsError, load
from tools.freshness import deliver


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 if CONFORMANCE.md is not what it should be."
)
def main(*, check: bool) -> None:
    """Write CONFORMANCE.md: each requirement and the tests that show it."""
    try:
        requirements = load()
        text = page(requirements, collect(requirements))
    except (RequirementsError, EvidenceError) as error:
        raise click.ClickException(str(error)) from error
    deliver({ROOT / "CONFORMANCE.md": text}, check=check, verb="make conformance")


if __name__ == "__main__":
    main()
