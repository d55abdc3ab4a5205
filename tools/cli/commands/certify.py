"""``egm certify``: check games against every rule of a jurisdiction, and sign the evidence."""

import importlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from egm.errors import OperatorError
from egm.profiles import Profile
from paytables import AnalysisError, analyse
from paytables.wording import format_count
from tools.cli.commands.par import load_game_or_fail, load_named_profile
from tools.cli.reference import format_command_reference
from tools.cli.tables import (
    BAD_STYLE,
    DOUBT_STYLE,
    GOOD_STYLE,
    Column,
    OutputFormat,
    Table,
    add_format_options,
    show,
    show_progress,
)
from tools.cli.terminal import echo
from tools.cli.whole_number import WholeNumber
from tools.lab.argument_names import parse_path_or_id
from tools.lab.certification import bundle, reproduction, submission
from tools.lab.certification.changes import classify_changes
from tools.lab.certification.finding import CertificationCase, Finding, FindingStatus
from tools.lab.certification.rules import check_every_rule
from tools.lab.certification.source import check_source
from tools.lab.parsheet import build_sheet
from tools.lab.parsheet.formats import to_csv, to_html
from tools.lab.rng.service import start_laboratory_generator

#: The source from which a submission is built; an installed product has none, and the command says so.
_SOURCE_FOLDER = Path(__file__).resolve().parents[3]
#: How the result of a rule is printed.
_STYLE_BY_STATUS = {
    FindingStatus.PASS: GOOD_STYLE,
    FindingStatus.FAIL: BAD_STYLE,
    FindingStatus.NOTED: DOUBT_STYLE,
    FindingStatus.NOT_APPLICABLE: DOUBT_STYLE,
}


@click.command()
@click.argument("games", nargs=-1)
@click.option("--jurisdiction", help="A jurisdiction profile's id.")
@click.option(
    "--out",
    "output_folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the bundles, with one sub-folder per game.",
)
@click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    help="the laboratory's signing key; created if missing; it must not be within OUT, which is handed over "
    "(default: open-egm-laboratory.key beside the default state folder)",
)
@click.option(
    "--games-played",
    "games_per_bet",
    default=20_000,
    show_default=True,
    type=WholeNumber(min=2),
    help="Games to simulate for each bet.",
)
@click.option(
    "--submission",
    "with_submission",
    is_flag=True,
    help="Also OUT/submission: source, build, signed software manifest, definitions, sheets, manuals, tables.",
)
@click.option(
    "--battery",
    "battery_file",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="with --submission: the generator's test results, written by `egm rng battery --json FILE`;"
    " without it the submission lists what is missing",
)
@click.option(
    "--reproduce", is_flag=True, help="With --verify: build and write the bundle again, and compare."
)
@click.option(
    "--against",
    "approved_game",
    metavar="OLD",
    help="The approved game: print which approval the change needs, and why.",
)
@add_format_options
@click.option(
    "--verify",
    "folders",
    multiple=True,
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Check one bundle, or all bundles of an OUT folder: every file must match its signature.",
)
@click.option(
    "--signer", metavar="HEX", help="With --verify: the laboratory's public key, from a trusted source."
)
def command(
    games: tuple[str, ...],
    jurisdiction: str | None,
    output_folder: Path | None,
    key: Path | None,
    games_per_bet: int,
    folders: tuple[Path, ...],
    signer: str | None,
    approved_game: str | None,
    *,
    battery_file: Path | None,
    with_submission: bool,
    reproduce: bool,
    output_format: OutputFormat,
) -> None:
    """Certify GAMES (library ids or files) for a jurisdiction, or --verify existing bundles.

    With --submission, one more bundle is written with everything that a laboratory requires of a
    manufacturer, built from the commit of a clean checkout. --verify --reproduce builds a bundle again from
    its own source and compares every file.

    With --against OLD, each game is compared with the approved game OLD instead, and the approval that it
    needs is printed: none, cloned theme, notice only, or full approval.

    The exit status is 1 if any rule fails, or if a bundle differs from what was signed.
    """
    if folders or approved_game is not None:
        if folders:
            _verify_bundles(folders, signer, output_format, reproduce=reproduce)
        _print_changes_from_approved(approved_game, games, output_format)
        return
    if jurisdiction is None or not games:
        raise click.UsageError("name GAMES and --jurisdiction, or --verify a bundle")
    if with_submission and output_folder is None:
        raise click.UsageError("--submission needs --out, the folder the bundle goes to")
    profile = load_named_profile(jurisdiction)
    _require_laboratory_packages(output_folder)
    signing_key = None if output_folder is None else _load_signing_key(key, output_folder)
    if with_submission and output_folder is not None and signing_key is not None:
        _require_submittable_source(output_folder, signing_key)
    checked_games = [_check_game(name, profile, games_per_bet) for name in games]
    if output_folder is not None and signing_key is not None:
        for case, findings in checked_games:
            _write_game_bundle(case, findings, output_folder, signing_key)
        if with_submission:
            _write_submission(checked_games, output_folder, signing_key, battery_file)
        echo(f"signed in {output_folder}; `egm certify --verify {output_folder}` checks it", err=True)
    conclusions = "\n".join(
        _format_conclusion(case, findings) for case, findings in checked_games if _is_certified(findings)
    )
    show(
        output_format,
        *(_build_table(case, findings) for case, findings in checked_games),
        document=[_build_findings_data(case, findings) for case, findings in checked_games],
        text_after=conclusions,
    )
    if failed_games := [case.game.id for case, findings in checked_games if not _is_certified(findings)]:
        raise click.ClickException(f"not certified for {jurisdiction}: {', '.join(failed_games)}")


def _require_submittable_source(folder: Path, signing_key: Ed25519PrivateKey) -> None:
    """Raise ClickException, before any game is tested, if the source cannot become a submission to a laboratory."""
    try:
        check_source(_SOURCE_FOLDER, folder, signing_key)
    except OperatorError as error:
        raise click.ClickException(str(error)) from None


def _load_signing_key(key_option: Path | None, folder: Path) -> Ed25519PrivateKey:
    """Return the signing key; if none exists, create it and print its path."""
    try:
        path = bundle.find_key_path(key_option, folder)
        if not path.exists():
            echo(f"the laboratory's private key was created: {path}", err=True)
        return bundle.load_laboratory_key(path)
    except OperatorError as error:
        raise click.ClickException(str(error)) from None


def _check_game(name: str, profile: Profile, games_per_bet: int) -> tuple[CertificationCase, list[Finding]]:
    """Check a game against every rule of a jurisdiction; return the certification case and the findings."""
    game = load_game_or_fail(name)
    with show_progress(f"certifying {game.id}"), start_laboratory_generator().step() as draw:
        try:
            verify = getattr(game.rules, "verify", None)  # proofs of figures that the definition contains
            if verify is not None:
                verify()
            case = CertificationCase(
                game, parse_path_or_id(name), analyse(game), profile, draw, games_per_bet
            )
        except AnalysisError as error:
            raise click.ClickException(f"{game.id} cannot be certified: {error}") from None
        return case, check_every_rule(case)


def _is_certified(findings: list[Finding]) -> bool:
    """Return whether no rule of the certification failed."""
    return not any(finding.status is FindingStatus.FAIL for finding in findings)


def _format_conclusion(case: CertificationCase, findings: list[Finding]) -> str:
    """Return the conclusion of the certification for a game that fails no rule."""
    noted_count = sum(finding.status is FindingStatus.NOTED for finding in findings)
    noted_text = f", with {format_count(noted_count, 'finding')} to be read (noted)" if noted_count else ""
    return f"\n{case.game.id} {case.game.version} is certified for {case.profile.id}{noted_text}"


def _build_findings_data(case: CertificationCase, findings: list[Finding]) -> dict[str, object]:
    """Return the findings of a game's certification as JSON data, with the game's id and digest."""
    rows = [finding.to_json() for finding in findings]
    return {"game": case.game.id, "digest_sha256": case.game.digest, "findings": rows}


def _require_laboratory_packages(folder: Path | None) -> None:
    """Import the packages that certification bundles need, so that a missing one is reported before any game is tested.

    If no bundle is written (``folder`` is None), import nothing.
    """
    for package in () if folder is None else ("jinja2", "matplotlib"):
        importlib.import_module(package)


def _print_changes_from_approved(
    approved_game: str | None, games: tuple[str, ...], output_format: OutputFormat
) -> None:
    """Print, for each game, every change from the approved version and which approval the changes need."""
    if approved_game is None:
        return
    old_game = load_game_or_fail(approved_game)
    changes_json: list[dict[str, Any]] = []
    tables = []
    for name in games:
        new_game = load_game_or_fail(name)
        needed_approval, changes = classify_changes(old_game, new_game)
        changes_json.append(
            {
                "old": {"game": old_game.id, "version": old_game.version, "digest_sha256": old_game.digest},
                "new": {"game": new_game.id, "version": new_game.version, "digest_sha256": new_game.digest},
                "class": str(needed_approval),
                "changes": [
                    {
                        "path": change.dotted_path,
                        "before": change.value_before,
                        "after": change.value_after,
                        "asks": str(change.needed_approval),
                    }
                    for change in changes
                ],
            }
        )
        rows = (
            (new_game.id, change.needed_approval, change.dotted_path, change.value_before, change.value_after)
            for change in changes
        )
        title = f"{new_game.id} {new_game.version} after {old_game.id} {old_game.version}: {needed_approval}"
        tables.append(
            Table(("game", "asks", "change", "before", "after"), rows, title=title, empty_text="no change")
        )
    show(output_format, *tables, document=changes_json)


def _write_submission(
    checked_games: list[tuple[CertificationCase, list[Finding]]],
    folder: Path,
    signing_key: Ed25519PrivateKey,
    battery_file: Path | None,
) -> None:
    """Write the submission bundle, signed with the same key as the games' bundles; print each part that is missing."""
    battery_result = None if battery_file is None else battery_file.read_bytes()
    try:
        with show_progress("building and writing the submission"):
            files, manifest_details = submission.build_submission(
                checked_games, _SOURCE_FOLDER, folder, signing_key, format_command_reference(), battery_result
            )
        bundle.write_bundle(folder / submission.SUBMISSION_FOLDER, files, manifest_details, signing_key)
    except OperatorError as error:
        raise click.ClickException(str(error)) from None
    for missing_item in manifest_details["missing"]:
        echo(f"missing in the submission: {missing_item}", err=True)


def _verify_bundles(
    folders: tuple[Path, ...], signer: str | None, output_format: OutputFormat, *, reproduce: bool
) -> None:
    """Print what each certification bundle certifies, or what is wrong with it; with ``reproduce``, also rebuild it."""
    try:
        key = None if signer is None else bytes.fromhex(signer)
    except ValueError:
        raise click.ClickException(
            f"--signer {signer}: expected the laboratory's public key in hexadecimal"
        ) from None
    verified_by = "by the key in the bundle itself" if key is None else "by the key given with --signer"
    reports: list[dict[str, Any]] = []
    tables = []
    try:
        bundle_folders = [
            bundle_folder for folder in folders for bundle_folder in bundle.list_bundles(folder)
        ]
    except bundle.BundleError as error:
        raise click.ClickException(str(error)) from None
    for folder in bundle_folders:
        try:
            manifest_details = bundle.verify_bundle(folder, key)
            bundle.check_all_files_signed(folder, manifest_details)
            with show_progress(f"making {folder} again"):
                reproduced_items = (
                    list(reproduction.reproduce(folder, manifest_details, format_command_reference()))
                    if reproduce
                    else []
                )
        except bundle.BundleError as error:
            raise click.ClickException(str(error)) from None
        text = f"{folder}: intact, and signed {verified_by}; {_format_summary(manifest_details)}"
        reports.append(
            {
                **manifest_details,
                "signed": verified_by,
                "reproduced": [
                    {"what": reproduced_item.name, "differs": reproduced_item.difference}
                    for reproduced_item in reproduced_items
                ],
            }
        )
        rows = [
            (reproduced_item.name, reproduced_item.difference or "the same")
            for reproduced_item in reproduced_items
        ]
        if output_format == "text":
            echo(text)
        if reproduce:
            tables.append(Table(("made again", "result"), rows))
    if reproduce or output_format != "text":
        show(output_format, *tables, document=reports)
    differing_parts = [part["what"] for report in reports for part in report["reproduced"] if part["differs"]]
    if differing_parts:
        raise click.ClickException(
            f"this computer's results differ from the bundle in {', '.join(differing_parts)}"
        )


def _format_summary(details: Mapping[str, Any]) -> str:
    """Return one line about what a certification bundle certifies."""
    if "submission" in details:
        games_text = format_count(len(details["games"]), "game")
        return f"{details['submission']} with {games_text} for {details['jurisdiction']}"
    verdict = "certified" if details["certified"] else "NOT certified"
    return (
        f"{details['game']} {details['version']} is {verdict} for {details['jurisdiction']}; "
        f"SHA-256 {details['digest_sha256']}"
    )


def _build_table(case: CertificationCase, findings: list[Finding]) -> Table:
    """Return a table of the findings of one game's certification."""
    columns = (
        "rule",
        Column("requirements", format_value=" ".join),
        Column("status", "status", choose_style=_STYLE_BY_STATUS.get),
        "evidence",
    )
    rows = ((finding.rule, finding.requirements, finding.status, finding.evidence) for finding in findings)
    return Table(columns, rows, title=f"{case.game.id} {case.game.version}: {case.profile.title['en']}")


def _write_game_bundle(
    case: CertificationCase, findings: list[Finding], folder: Path, signing_key: Ed25519PrivateKey
) -> None:
    """Write the files of one game's certification to ``folder``, with a signed manifest."""
    odds_limits = case.profile.awards.odds_limits
    sheet = build_sheet(case.game, case.analysis, odds_limits)
    report = json.dumps([finding.to_json() for finding in findings], indent=2, ensure_ascii=False)
    if case.game.source is None:
        raise click.ClickException(f"{case.game.id}: was not read from a file and cannot be certified")
    files = {
        f"{case.game.id}.toml": case.game.source.data,
        **{name: source.data for name, source in case.game.assets.items()},
        "par.json": json.dumps(sheet, indent=2, ensure_ascii=False).encode(),
        "par.csv": to_csv(case.game, case.analysis, odds_limits).encode(),
        "par.html": to_html(case.game, case.analysis, odds_limits).encode(),
        "findings.json": report.encode(),
    }
    manifest_details = {
        "game": case.game.id,
        "version": case.game.version,
        "digest_sha256": case.game.digest,
        "jurisdiction": case.profile.id,
        "least_return": str(
            min(
                bet.compute_rtp_including_levels(case.profile.progressives.part_counted_in_return)
                for bet in case.analysis.bets
            )
        ),
        "certified": _is_certified(findings),
        "games_played": case.games_per_bet,
        "made_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "made_by": f"open-egm {version('open-egm')}",
    }
    folder.mkdir(parents=True, exist_ok=True)
    bundle.write_bundle(folder / case.game.id, files, manifest_details, signing_key)
