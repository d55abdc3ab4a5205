"""Random graphs of features: exact against the tree of every draw, whatever gives what to whom."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paytables_trees import definition, moments_match

TINY = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
STRIP = st.lists(st.sampled_from(["a", "b", "s", "w"]), min_size=2, max_size=3).map(" ".join)


@st.composite
def award(draw, later):
    kind = draw(st.sampled_from(later))
    return {"stage": kind, "times": draw(st.integers(1, 2))}


@st.composite
def reels(draw, name, later):
    """A two-reel stage: its scatter, or a line prize, may give runs of itself (capped) or of a later stage."""
    pays = [{"of": draw(st.sampled_from("ab")), "pays": {draw(st.integers(1, 2)): draw(st.integers(1, 5))}}]
    stage = {
        "heights": [1, 1],
        "lines": [[0, 0]],
        "strips": [f"s {draw(STRIP)}", f"s {draw(STRIP)}"],
        "pay": pays,
    }
    gives = [draw(award(later))] if later and draw(st.booleans()) else []
    if name != "base":
        if draw(st.booleans()):
            gives.append({"stage": name, "times": 1})
            stage["most_runs"] = draw(st.integers(1, 3))
        if draw(st.booleans()):
            stage["multipliers"] = [1, draw(st.integers(2, 4))]
            stage.setdefault("most_runs", 3)
    if gives:
        pays.append({"on": "scatter", "of": "s", "pays": {draw(st.integers(1, 2)): 1}, "gives": gives})
    return stage


@st.composite
def games(draw):
    wheel = {"kind": "wheel", "items": [{"credits": draw(st.integers(1, 9))}, {"credits": 1}]}
    pick = {
        "kind": "pick",
        "items": [
            {"credits": draw(st.integers(1, 5))},
            {"id": "turn", "gives": [{"stage": "wheel"}]},
            {"id": "stop", "end": True},
        ],
    }
    stages = {"wheel": wheel, "pick": pick}
    stages["free"] = draw(reels("free", ["wheel", "pick"]))
    stages["base"] = draw(reels("base", ["free", "wheel", "pick"]))
    return definition(stages, cost=draw(st.integers(1, 3)))


@TINY
@given(games())
def test_random_feature_graphs_are_exact(data):
    moments_match(data, cost=data["bets"]["mode"][0]["cost"])
