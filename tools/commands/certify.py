"""``egm certify``: hold games against every rule of a jurisdiction, and sign the evidence."""

import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from paytables import AnalysisError, analyse
from paytables.definition import find
from tools.certification import bundle
from tools.certification.finding import Case, Finding, Status
from tools.certification.rules import hold
from tools.commands.par import load, profile_of
from tools.laboratory.service import start_service
from tools.parsheet import sheet
from tools.parsheet.forms import to_csv, to_html

_STYLE = {Status.PASS: "green", Status.FAIL: "bold red", Status.NOTED: "yellow"}


@click.command()
@click.argument("games", nargs=-1)
@click.option("--jurisdiction", help="a profile's id")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="where the bundle goes, a folder a game"
)
@click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    help="the laboratory's signing key; made when it is not there (default: OUT/laboratory.key)",
)
@click.option(
    "--games-played", default=20_000, show_default=True, type=click.IntRange(min=2), help="simulated a bet"
)
@click.option("--json", "as_json", is_flag=True)
@click.option(
    "--verify",
    "folders",
    multiple=True,
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="check a bundle instead: every file is what was signed",
)
@click.option(
    "--signer", metavar="HEX", help="with --verify: the laboratory's public key, known from elsewhere"
)
def command(
    games: tuple[str, ...],
    jurisdiction: str | None,
    out: Path | None,
    key: Path | None,
    games_played: int,
    folders: tuple[Path, ...],
    signer: str | None,
    *,
    as_json: bool,
) -> None:
    """Certify GAMES (library ids or files) for a jurisdiction, or --verify bundles made so.

    The exit status is 1 when any rule fails, or a bundle is not what was signed.
    """
    if folders:
        _verify(folders, signer)
        return
    if jurisdiction is None or not games:
        raise click.UsageError("name GAMES and --jurisdiction, or --verify a bundle")
    profile = profile_of(jurisdiction)
    console = Console()
    failed = []
    told = []
    for name in games:
        game = load(name)
        with start_service().step() as draw:
            try:
                case = Case(game, name, analyse(game), profile, draw, games_played)
            except AnalysisError as error:
                raise click.ClickException(f"{game.id} cannot be certified: {error}") from None
            findings = hold(case)
        told.append({"game": game.id, "digest_sha256": game.digest, "findings": [_row(f) for f in findings]})
        if any(f.status is Status.FAIL for f in findings):
            failed.append(game.id)
        if not as_json:
            _print(console, f"{game.id} {game.version}: {profile.title['en']}", findings)
        if out is not None:
            _write(case, findings, out, key)
    if as_json:
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
    if failed:
        raise click.ClickException(f"not certified for {jurisdiction}: {', '.join(failed)}")


def _verify(folders: tuple[Path, ...], signer: str | None) -> None:
    """Say of each bundle what it certifies, or what is wrong with it."""
    try:
        key = None if signer is None else bytes.fromhex(signer)
    except ValueError:
        raise click.ClickException(f"--signer {signer}: no key in hex") from None
    for folder in folders:
        try:
            facts = bundle.verify(folder, key)
        except bundle.BundleError as error:
            raise click.ClickException(str(error)) from None
        by = "by the key in the bundle itself" if key is None else "by the key named"
        said = "certified" if facts["certified"] else "NOT certified"
        click.echo(
            f"{folder}: whole, and signed {by}; {facts['game']} {facts['version']} is {said} for "
            f"{facts['jurisdiction']}; SHA-256 {facts['digest_sha256']}"
        )


def _row(finding: Finding) -> dict[str, object]:
    return {
        "rule": finding.rule,
        "requirements": list(finding.requirements),
        "status": str(finding.status),
        "evidence": finding.evidence,
    }


def _print(console: Console, title: str, findings: list[Finding]) -> None:
    table = Table("rule", "requirements", "", "evidence", title=title, title_justify="left", show_edge=False)
    for f in findings:
        table.add_row(f.rule, " ".join(f.requirements), f"[{_STYLE[f.status]}]{f.status}[/]", f.evidence)
    console.print(table)


def _write(case: Case, findings: list[Finding], out: Path, key: Path | None) -> None:
    rules = case.profile.awards
    data = sheet(case.game, case.analysis, rules)
    report = json.dumps([_row(f) for f in findings], indent=2, ensure_ascii=False)
    files = {
        f"{case.game.id}.toml": find(case.path).read_bytes(),
        "par.json": json.dumps(data, indent=2, ensure_ascii=False).encode(),
        "par.csv": to_csv(case.game, case.analysis, rules).encode(),
        "par.html": to_html(case.game, case.analysis, rules).encode(),
        "findings.json": report.encode(),
    }
    facts = {
        "game": case.game.id,
        "version": case.game.version,
        "digest_sha256": case.game.digest,
        "jurisdiction": case.profile.id,
        "certified": not any(f.status is Status.FAIL for f in findings),
        "made_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "made_by": f"open-egm {version('open-egm')}",
    }
    out.mkdir(parents=True, exist_ok=True)
    try:
        bundle.write(out / case.game.id, files, facts, bundle.laboratory_key(key or out / "laboratory.key"))
    except bundle.BundleError as error:
        raise click.ClickException(str(error)) from None
