"""The benchmark of the library measures the first load and analysis of a game, without caches."""

from paytables import AnalysisDepth, analyse, load_game
from paytables.reels.rules import ReelRules
from tools.dev.bench import bench_paytables


def test_a_game_that_another_benchmark_has_analysed_is_analysed_again(monkeypatch):
    """Games and figures are cached in a process; a cached figure would measure nothing."""
    for depth in (AnalysisDepth.RETURN, AnalysisDepth.FULL):
        analyse(load_game("maple-classic"), depth)
    depths, work = [], ReelRules.analyse
    monkeypatch.setattr(
        ReelRules, "analyse", lambda rules, depth: (depths.append(depth), work(rules, depth))[1]
    )
    monkeypatch.setattr(bench_paytables, "list_shipped_games", lambda: ("maple-classic",))
    list(bench_paytables._measure_library_games())
    assert depths == [AnalysisDepth.RETURN, AnalysisDepth.FULL]
