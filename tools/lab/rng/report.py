"""The laboratory's report on the RNG: collected as data, written as JSON or as one HTML page with plots.

It is structured like the reports of accredited laboratories; the content is a self-assessment and says so first.
"""

import base64
import dataclasses
import io
import json
import math
import platform
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import rng
from rng.ctr_drbg import SEED_BYTES
from rng.mechanism import REQUEST_BYTES_MAX, RESEED_INTERVAL, SECURITY_BYTES
from rng.seeding import HEALTH_TEST_ALPHA_EXPONENT, SEED_BITS, START_UP_TEST_SAMPLE_COUNT
from rng.self_test import SELF_TESTS
from tools.lab.rng import production
from tools.lab.rng.battery.calibration import SIGNIFICANCE_LEVELS
from tools.lab.rng.battery.judgement import judge
from tools.lab.rng.battery.run import RETEST_FACTOR, TESTED_GAMES, GameVerdict
from tools.lab.rng.exhaustion import EXHAUSTIVELY_TESTED_BOUNDS, prove_range_uniform
from tools.lab.rng.raw_tests import read_dieharder, run_installed_tests

#: False alarms of each test on good data, as ``egm rng calibrate --json`` wrote them.
CALIBRATION_FILE: Final = Path(__file__).with_name("evidence") / "calibration.json"

#: The statement at the beginning of the report.
SELF_ASSESSMENT_TEXT: Final = (
    "This is a self-assessment by the project that wrote the generator. It is not a certificate, no "
    "accredited laboratory has taken part in it, and no regulator has accepted it."
)
#: The standards that the generator was made and tested by, and how far each was available.
STANDARDS: Final = (
    "NIST SP 800-90A Rev. 1: CTR_DRBG, HMAC_DRBG, Hash_DRBG",
    "NIST SP 800-90B section 4.4: health tests only; no source has been assessed",
    "GLI-19 v3.0 chapter 3, as quoted in public compliance matrices; the standard's text was not available",
)
#: What the report does not show.
LIMITATIONS: Final = (
    "No source of entropy has been assessed under SP 800-90B; each claim is given with its basis.",
    "Statistical tests find large bias only. Section 6 proves that scaling adds no bias.",
    "Section 7 tests the outcomes of complete plays by statistics.",
    "The state is overwritten when service ends; copies inside CPython and OpenSSL cannot be reached.",
    "A snapshot restored twice: the two generators differ only if the kernel has reseeded its own since.",
    "The kernel does so where the hypervisor reports that a snapshot was restored.",
    "Figures were taken on the machine named in section 2, not on the cabinet's hardware.",
)
#: Samples of the jitter source from which its min-entropy is estimated.
_JITTER_SAMPLE_COUNT: Final = 100_000
#: The folder of the generator's source.
_RNG_SOURCE_FOLDER: Final = Path(rng.__file__).parent

#: A report, or a part of it, as JSON data.
ReportData = dict[str, Any]


def estimate_min_entropy(samples: bytes) -> float:
    """Return the min-entropy per sample in bits, from the most common value at its upper 99 % bound.

    Source: SP 800-90B 6.3.1.
    """
    most_common_share = Counter(samples).most_common(1)[0][1] / len(samples)
    share_bound = min(
        1.0,
        most_common_share
        + 2.576 * math.sqrt(most_common_share * (1 - most_common_share) / (len(samples) - 1)),
    )
    return -math.log2(share_bound)


def _list_source_files() -> list[dict[str, str]]:
    """Return the path and SHA-256 of each source file of the random number generator."""
    paths = sorted(path for path in _RNG_SOURCE_FOLDER.rglob("*.py") if "__pycache__" not in path.parts)
    return [
        {
            "file": str(path.relative_to(_RNG_SOURCE_FOLDER.parent)),
            "sha256": sha256(path.read_bytes()).hexdigest(),
        }
        for path in paths
    ]


def _measure_entropy_sources() -> list[dict[str, Any]]:
    """Return an estimate of each entropy source's min-entropy and the entropy that it claims."""
    rows = []
    for source in rng.list_available_sources():
        count = (
            _JITTER_SAMPLE_COUNT if isinstance(source, rng.JitterSource) else START_UP_TEST_SAMPLE_COUNT * 10
        )
        rows.append(
            {
                "source": source.name,
                "claimed_bits_per_byte": float(source.entropy_bits),
                "claim": source.claim_basis,
                "samples": count,
                "most_common_value_bits": estimate_min_entropy(source.read_samples(count)),
                "assessed": False,
            }
        )
    return rows


def build_report(
    verdicts: Sequence[GameVerdict],
    *,
    alpha: float,
    command: str,
    read_raw_bytes: Callable[[int], bytes],
    now: datetime,
) -> ReportData:
    """Return the report on RNG tests as JSON data: every measurement, and what it means."""
    dieharder = read_dieharder()
    scaling = _check_scaling(verdicts)
    has_passed = all(verdict.has_passed for verdict in verdicts) and not any(row["error"] for row in scaling)
    return {
        "statement": SELF_ASSESSMENT_TEXT,
        "title": "Random number generator of open-egm: self-assessment",
        "version": version("open-egm"),
        "date": now.astimezone(UTC).isoformat(timespec="seconds"),
        "standards": list(STANDARDS),
        "passed": has_passed,
        "alpha": alpha,
        "scope": {
            "files": _list_source_files(),
            "python": platform.python_version(),
            "cryptography": version("cryptography"),
            "numpy": version("numpy"),
            "scipy": version("scipy"),
            "system": f"{platform.system()} {platform.release()}",
            "machine": platform.machine(),
        },
        "generator": {
            "mechanism": rng.ReseedPolicy().mechanism.value,
            "security_bits": SECURITY_BYTES * 8,
            "state_bits": SEED_BYTES * 8,
            "request_bytes_max": REQUEST_BYTES_MAX,
            "reseed_interval": RESEED_INTERVAL,
            "seed_bits_per_source": SEED_BITS,
            "policy": {
                key: sorted(field.default) if isinstance(field.default, frozenset) else field.default
                for key, field in rng.ReseedPolicy.get_field_by_profile_key().items()
            },
        },
        "self_tests": list(SELF_TESTS),
        "raw": {
            "dieharder": {
                "provenance": list(dieharder.provenance),
                "changed_since": list(dieharder.list_changed_sources()),
                "counts": {name: dieharder.count_p_values(name) for name in ("PASSED", "WEAK", "FAILED")},
                "lines": [dataclasses.asdict(line) for line in dieharder.lines],
            },
            "here": [dataclasses.asdict(test) for test in run_installed_tests(read_raw_bytes)],
        },
        "scaling": scaling,
        "games": [
            {
                "game": verdict.game,
                "passed": verdict.has_passed,
                "runs": [
                    {**dataclasses.asdict(run), "passed": run.judgement.has_passed} for run in verdict.runs
                ],
            }
            for verdict in verdicts
        ],
        "calibration": json.loads(CALIBRATION_FILE.read_text(encoding="utf-8")),
        "collective": _judge_all_games(verdicts, alpha),
        "health": {
            "start_up_samples": START_UP_TEST_SAMPLE_COUNT,
            "alpha_exponent": HEALTH_TEST_ALPHA_EXPONENT,
        },
        "entropy": _measure_entropy_sources(),
        "limits": list(LIMITATIONS),
        "command": command,
    }


def _check_scaling(verdicts: Sequence[GameVerdict]) -> list[ReportData]:
    """Scale every random word once for each range, and return a row of results for each range.

    Ranges of the tested games are scaled by the machine's own code; the ranges :data:`EXHAUSTIVELY_TESTED_BOUNDS` by
    the compiled code of the laboratory. A range that is not uniform becomes a row with its error rather than stopping
    the report.
    """
    game_bounds = sorted(
        {bound for verdict in verdicts for bound in production.list_ranges(TESTED_GAMES[verdict.game][0])}
    )
    rows: list[ReportData] = []
    for code_name, bounds, prove_range in (
        ("machine", game_bounds, production.exhaust_production_range),
        ("compiled", EXHAUSTIVELY_TESTED_BOUNDS, prove_range_uniform),
    ):
        for bound in bounds:
            row: ReportData = {"bound": bound, "words_each": 0, "words_thrown_away": 0, "error": ""}
            try:
                row |= dataclasses.asdict(prove_range(bound))
            except rng.RngError as error:
                row["error"] = f"{code_name}: {error}"
            rows.append({"by": code_name, **row})
    return rows


def _judge_all_games(verdicts: Sequence[GameVerdict], significance_level: float) -> ReportData:
    """Return figures of all games together: the p-values below the significance level, and the retests.

    The figures also list, for each significance level, the games whose last run has a finding at it.
    """
    p_values = [result.p_value for verdict in verdicts for run in verdict.runs for result in run.results]
    return {
        "p_values": len(p_values),
        "below_alpha": sum(p_value < significance_level for p_value in p_values),
        "below_alpha_expected": significance_level * len(p_values),
        "retests": sum(len(verdict.runs) > 1 for verdict in verdicts),
        "retest_factor": RETEST_FACTOR,
        "levels": [
            {
                "level": level,
                "games_with_findings": [
                    verdict.game
                    for verdict in verdicts
                    if not judge(verdict.runs[-1].results, level).has_passed
                ],
            }
            for level in SIGNIFICANCE_LEVELS
        ],
    }


def to_json(report: ReportData) -> str:
    """Return the report as JSON."""
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def to_html(report: ReportData) -> str:
    """Return the report as one self-contained HTML page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 (laboratory package)

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html.j2")
    return template.render(report=report, plots=_draw_plots(report))


def _draw_plots(report: ReportData) -> dict[str, list[str]]:
    """Return plots of each game's last run, as data URLs."""
    last_run_by_game = {game["game"]: game["runs"][-1] for game in report["games"]}
    return {name: [_plot_p_values(run), *_plot_counts(run)] for name, run in last_run_by_game.items()}


def _create_figure() -> Any:
    """Return an empty plot that needs no display."""
    import matplotlib as mpl  # noqa: PLC0415 (laboratory package)

    mpl.use("Agg")
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure(figsize=(6.0, 3.2), layout="constrained")


def _encode_figure(figure: Any) -> str:
    """Return a plot as the data URL of a PNG."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def _plot_p_values(run: ReportData) -> str:
    """Plot the p-values in order, against the line of a uniform distribution."""
    figure = _create_figure()
    axes = figure.subplots()
    p_values = sorted(result["p_value"] for result in run["results"])
    count = len(p_values)
    axes.plot([(i + 0.5) / count for i in range(count)], p_values, "o", markersize=3, color="#1f5f8b")
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1)
    axes.set(title=f"{count} p-values, in order", xlabel="expected", ylabel="p", xlim=(0, 1), ylim=(0, 1))
    return _encode_figure(figure)


def _plot_counts(run: ReportData) -> list[str]:
    """Return a plot of how often each number was drawn, for the first test that stored its counts."""
    for result in run["results"]:
        if result["observed"]:
            figure = _create_figure()
            axes = figure.subplots()
            observed, expected = result["observed"], result["expected"]
            standard_deviations = [math.sqrt(expected_count) for expected_count in expected]
            axes.bar(range(len(observed)), observed, color="#8fb9d8")
            bar_lengths = [2.576 * standard_deviation for standard_deviation in standard_deviations]
            axes.errorbar(
                range(len(expected)), expected, bar_lengths, fmt="none", ecolor="#333333", elinewidth=1
            )
            lowest_shown = min(observed) - 4 * max(standard_deviations)
            axes.set(
                title=f"{result['test']}, {result['detail']} (bars: 99 % about the expected)",
                xlabel="number",
                ylabel="times",
                ylim=(max(0, lowest_shown), None),
            )
            return [_encode_figure(figure)]
    return []
