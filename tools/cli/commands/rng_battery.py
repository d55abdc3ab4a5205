"""``egm rng battery`` and ``egm rng calibrate``: a laboratory's statistical tests, and the tests of those tests."""

import dataclasses
import json
import platform
import shlex
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

import rng
from paytables.wording import format_count
from tools.cli.result_file import write_result
from tools.cli.tables import DOUBT_STYLE, Column, Table, build_number_column, show, show_progress
from tools.cli.terminal import Terminal
from tools.cli.whole_number import WholeNumber
from tools.lab.rng.service import start_laboratory_generator

if TYPE_CHECKING:
    from tools.lab.rng.battery.run import GameVerdict

#: The names of the planted defects.
DEFECT_NAMES = ("modulo-bias", "sticky", "correlated-pair", "biased-shuffle")
#: The names of the tested games.
GAME_NAMES = ("reels", "long-reels", "dice", "wheel", "keno", "cards")


def _build_test_table(verdict: "GameVerdict") -> Table:
    """Return a table of the statistical tests in the last run for one game."""
    run = verdict.runs[-1]
    alpha = run.judgement.alpha
    columns = (
        "test",
        "of",
        build_number_column("outcomes"),
        Column("statistic", is_right_aligned=True, format_value="{:.2f}".format),
        build_number_column("dof"),
        Column(
            "p",
            is_right_aligned=True,
            format_value="{:.5f}".format,
            choose_style=lambda p_value: DOUBT_STYLE if p_value < alpha else None,
        ),
    )
    rows = (
        (result.test, result.detail, result.outcomes, result.statistic, result.dof, result.p_value)
        for result in run.results
    )
    return Table(columns, rows, title=f"{verdict.game}, {run.plays:,} plays")


def _print_verdict(console: Terminal, verdict: "GameVerdict") -> None:
    """Print the statistical tests of a game and the conclusion from them."""
    show("text", _build_test_table(verdict))
    for number, run in enumerate(verdict.runs, 1):
        judgement = run.judgement
        console.print(
            f"{verdict.game}, run {number}: {judgement.below_alpha} of {judgement.tests} p-values below "
            f"{judgement.alpha} ({judgement.below_alpha_expected:.2f} expected), evenness {judgement.evenness:.4f}, "
            f"{format_count(len(judgement.findings), 'finding')}"
        )
        for finding in judgement.findings:
            console.print(f"  [red]finding[/red]: {finding.what} (adjusted p {finding.adjusted:.2e})")
    console.print()


#: The type of an option that names a file.
_FILE_TYPE = click.Path(dir_okay=False, path_type=Path)


@click.command("battery")
@click.option(
    "--game", "names", multiple=True, type=click.Choice(GAME_NAMES), help="Only this game; repeat for more."
)
@click.option(
    "--plays", type=WholeNumber(min=1), help="The number of plays of each game (default: the game's own)."
)
@click.option(
    "--alpha",
    type=float,
    default=0.01,
    show_default=True,
    help="Significance level of all tests of a game together.",
)
@click.option("--planted", type=click.Choice(DEFECT_NAMES), help="Plant this defect in good outcomes.")
@click.option("--json", "json_file", type=_FILE_TYPE, help="Write the report as JSON.")
@click.option("--html", "html_file", type=_FILE_TYPE, help="Write the report as one HTML page.")
def battery(
    names: tuple[str, ...],
    plays: int | None,
    alpha: float,
    planted: str | None,
    json_file: Path | None,
    html_file: Path | None,
) -> None:
    """Test final outcomes of reels, dice, a wheel, Keno and cards; exit status 1 if a finding is confirmed.

    The outcomes are drawn by the machine's own code, one step per play, and each play is compared with that
    of a compiled version. A game with a finding is tested once more, on a fresh generator with ten times the
    plays; the second run decides, and both are reported.
    """
    from tools.lab.rng.battery.planted import PLANTED_DEFECTS  # noqa: PLC0415 (only laboratories load numpy and scipy)
    from tools.lab.rng.battery.run import TESTED_GAMES, WordSource, draw_honestly, run_game  # noqa: PLC0415
    from tools.lab.rng.collection import create_raw_reader  # noqa: PLC0415
    from tools.lab.rng.production import ProductionDraws  # noqa: PLC0415

    def create_source() -> WordSource:
        """Return the source of the words to test: production draws, or raw output in which a defect is planted."""
        return (
            create_raw_reader(start_laboratory_generator())
            if planted
            else ProductionDraws(start_laboratory_generator())
        )

    console = Terminal()
    verdicts: list[GameVerdict] = []
    try:
        for name in names or TESTED_GAMES:
            game, default_plays = TESTED_GAMES[name]
            draw_outcomes = PLANTED_DEFECTS[planted] if planted else draw_honestly
            with show_progress(f"testing {name}, {plays or default_plays:,} plays"):
                verdicts.append(
                    run_game(name, game, plays or default_plays, alpha, create_source, draw_outcomes)
                )
            _print_verdict(console, verdicts[-1])
        if json_file or html_file:
            scaling_errors = _write_report(
                verdicts, alpha, create_raw_reader(start_laboratory_generator()), json_file, html_file
            )
            if scaling_errors:
                raise click.ClickException("\n".join(scaling_errors))
    except (rng.RngError, OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    failed_games = [verdict.game for verdict in verdicts if not verdict.has_passed]
    if failed_games:
        raise click.ClickException(f"findings in: {', '.join(failed_games)}")
    console.print("no finding; this is a self-assessment, not a certificate")


def _write_report(
    verdicts: "Sequence[GameVerdict]",
    alpha: float,
    read_raw_bytes: Callable[[int], bytes],
    json_file: Path | None,
    html_file: Path | None,
) -> list[str]:
    """Write the RNG report as JSON and as HTML, each if a file is named; return the errors found in scaling.

    Scaling turns raw output into numbers of a range.
    """
    from tools.lab.rng.report import build_report, to_html, to_json  # noqa: PLC0415

    def read_bytes(count: int) -> bytes:
        """Return ``count`` bytes of the generator's output, read in blocks of the maximum request size."""
        return b"".join(read_raw_bytes(min(65_536, count - offset)) for offset in range(0, count, 65_536))

    command_parts = [*click.get_current_context().command_path.split(), *_list_given_options()]
    report = build_report(
        verdicts,
        alpha=alpha,
        command=shlex.join(command_parts),
        read_raw_bytes=read_bytes,
        now=datetime.now(UTC),
    )
    if json_file:
        write_result(json_file, to_json(report))
    if html_file:
        write_result(html_file, to_html(report))
    return [str(test_data["error"]) for test_data in report["scaling"] if test_data["error"]]


def _list_given_options() -> list[str]:
    """Return the command-line options, as typed, that determine which outcomes are drawn."""
    options: list[str] = []
    for name, value in click.get_current_context().params.items():
        if name in {"json_file", "html_file"}:
            continue
        option = "--game" if name == "names" else f"--{name}"
        for option_value in value if isinstance(value, tuple) else (value,):
            options += (
                [
                    option,
                    f"{option_value:f}".rstrip("0") if isinstance(option_value, float) else str(option_value),
                ]
                if option_value
                else []
            )
    return options


@click.command("calibrate")
@click.option(
    "--replications",
    type=WholeNumber(min=100),
    default=1000,
    show_default=True,
    help="The number of data sets per test.",
)
@click.option(
    "--first-seed",
    type=WholeNumber(min=0),
    default=1,
    show_default=True,
    help="The seed of the first data set.",
)
@click.option("--json", "json_file", type=_FILE_TYPE, help="Write the counts as JSON.")
def calibrate_tests(replications: int, first_seed: int, json_file: Path | None) -> None:
    """Count each test's false alarms on good data; exit status 1 if a test's rate differs from its significance level.

    The data is the laboratory's deterministic stream, one seed per data set, so the counts are reproducible.
    """
    from tools.lab.rng.battery.calibration import (  # noqa: PLC0415
        CALIBRATED_GAMES,
        SIGNIFICANCE_LEVELS,
        calibrate,
        describe_implausible_false_alarm_rates,
    )

    console = Terminal()
    calibrations = []
    for name in CALIBRATED_GAMES:
        calibrations.append(calibrate(name, replications, first_seed))
        alarms = ", ".join(
            f"{count} at {level}"
            for level, count in zip(SIGNIFICANCE_LEVELS, calibrations[-1].family_alarms, strict=True)
        )
        console.print(
            f"{name}: {format_count(len(calibrations[-1].tests), 'test')},"
            f" {format_count(replications, 'data set')}; joint judgement: {alarms}"
        )
    if json_file:
        calibration_data = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": f"egm rng calibrate --replications {replications} --first-seed {first_seed}",
            "python": platform.python_version(),
            "levels": SIGNIFICANCE_LEVELS,
            "games": [dataclasses.asdict(calibration) for calibration in calibrations],
        }
        write_result(json_file, json.dumps(calibration_data, indent=1) + "\n")
    if off_level_tests := [
        text for calibration in calibrations for text in describe_implausible_false_alarm_rates(calibration)
    ]:
        raise click.ClickException("\n".join(off_level_tests))
    console.print("every test rejects good data at its stated rate")
