"""Settlement and lowest return against an independent computation, over random tournaments with fixed seeds."""

import random
import tomllib
from fractions import Fraction
from math import ceil

import pytest

from egm.features.tournament.prizes import (
    PrizePlan,
    compute_prizes,
    divide_prizes_of_ties,
    find_prize_shortfall,
    split_cents,
)
from egm.features.tournament.rules import Tournament
from egm.features.tournament.settlement import compute_tournament_settlement
from egm.features.tournament.standings import Results
from tests.rigs.tournament import RULES


def draw_prizes(rng):
    """Return the prizes of a rules file: shares of at most the whole pool, and fixed amounts."""
    count = rng.randint(1, 6)
    parts = [rng.randint(1, 9) for _ in range(count)]
    denominator = sum(parts) + rng.randint(0, 40)
    return [
        {"rank": n, "share": f"{part}/{denominator}"} if rng.random() < 0.7 else {"rank": n, "amount_cents": rng.randint(1, 5000)}
        for n, part in enumerate(parts, 1)
    ]  # fmt: skip


def draw_rules(rng):
    """Return the data of a rules file."""
    data = tomllib.loads(RULES)
    places = rng.randint(1, 12)
    data |= {
        "carry_points": rng.random() < 0.5,
        "ties": rng.choice(["share", "best-game", "earlier-entry"]),
        "interrupted": rng.choice(["replay", "points-so-far", "refund"]),
        "failed": rng.choice(["zero-points", "points-so-far", "excluded"]),
        "unclaimed": rng.choice(["shared", "not-awarded"]),
        "remainders": rng.choice(["best-rank", "in-order"]),
        "prizes": draw_prizes(rng),
    }
    data["entries"] |= {
        "fee_cents": rng.choice([1, 33, 999, 5000]),
        "participants_min": rng.randint(1, places),
        "participants_max": places,
        "per_participant": rng.randint(1, 3),
    }
    rounds, qualified = [], places
    for _ in range(rng.randint(0, 2)):
        qualified = rng.randint(1, qualified)
        rounds.append({"games": 10, "points": 100, "advance": qualified})
    data["rounds"] = [*rounds, {"minutes": 5, "points": 100}]
    return data


def key(data, entry):
    """Return the sort key of an entry among those that reached the same round; a greater key is better."""
    extra = {"share": 0, "best-game": entry["best"], "earlier-entry": -entry["entry"]}[data["ties"]]
    return (entry["reached"], entry["score"], extra)


def play(rng, data):
    """Play a tournament; return its entries with their rounds, and the state in which each ended."""
    terms = data["entries"]
    people = [f"P-{n}" for n in range(rng.randint(terms["participants_min"], terms["participants_max"]))]
    sold = [person for person in people for _ in range(rng.randint(1, terms["per_participant"]))]
    rng.shuffle(sold)
    entries = [
        {"entry": n, "participant": person, "rounds": [], "void": None, "reached": 0, "score": 0, "best": 0}
        for n, person in enumerate(sold, 1)
    ]
    alive = entries
    for n, terms_of_round in enumerate(data["rounds"], 1):
        for entry in alive:
            status = rng.choice(["complete"] * 6 + ["failed", "interrupted"])
            if status == "interrupted" and data["interrupted"] == "replay":
                status = "complete"
            points = rng.randint(0, 6)
            best = rng.randint(0, points)
            entry["rounds"].append({"points": points, "best_game": best, "status": status})
            if (status, data["failed"]) == ("failed", "excluded"):
                entry["void"] = "excluded"
            elif (status, data["interrupted"]) == ("interrupted", "refund"):
                entry["void"] = "refunded"
            else:
                if (status, data["failed"]) == ("failed", "zero-points"):
                    points, best = 0, 0
                entry["score"] = points + (entry["score"] if data["carry_points"] else 0)
                entry["best"], entry["reached"] = best, n
        alive = [entry for entry in alive if not entry["void"]]
        counting = {}
        for entry in reversed(alive):  # of equal entries, the one sold first
            known = counting.get(entry["participant"])
            if known is None or key(data, entry) >= key(data, known):
                counting[entry["participant"]] = entry
        for entry in alive:
            entry["counts"] = entry is counting[entry["participant"]]
        alive = [
            entry
            for entry in alive
            if entry["counts"]
            and sum(key(data, other) > key(data, entry) for other in counting.values())
            < terms_of_round.get("advance", 0)
        ]
    for person in people:  # the next best entry counts where the better one has lost its rank
        own_entries = [entry for entry in entries if entry["participant"] == person and not entry["void"]]
        if own_entries and not any(entry.get("counts") for entry in own_entries):
            furthest = [
                entry
                for entry in own_entries
                if entry["reached"] == max(own_entry["reached"] for own_entry in own_entries)
            ]
            max(reversed(furthest), key=lambda entry: (key(data, entry), -entry["entry"]))["counts"] = True
    return entries


def deal(cents, count, rule):
    """Divide an amount equally, and distribute the remaining cents one by one."""
    parts = [cents // count] * count
    for i in range(cents - sum(parts)):
        parts[0 if rule == "best-rank" else i] += 1
    return parts


def pay(data, entries):
    """Return the sold fees, and rank and prize by participant, computed as the published rules say."""
    ranked = [entry for entry in entries if not entry["void"] and entry.get("counts")]
    fee, rule = data["entries"]["fee_cents"], data["remainders"]
    if not ranked:
        return 0, {}
    sold = fee * sum(entry["void"] != "refunded" for entry in entries)
    ranks = {e["entry"]: 1 + sum(key(data, other) > key(data, e) for other in ranked) for e in ranked}
    ranked.sort(key=lambda entry: (ranks[entry["entry"]], entry["entry"]))
    listed = data["prizes"] if data["unclaimed"] == "shared" else data["prizes"][: len(ranked)]
    share_sum = sum(Fraction(prize.get("share", 0)) for prize in listed)
    pool = ceil(share_sum * sold)
    cents = [prize.get("amount_cents") or pool * Fraction(prize["share"]) // share_sum for prize in listed]
    of_shares = [i for i, prize in enumerate(listed) if "share" in prize]
    for i in range(pool - sum(cents[i] for i in of_shares)):
        cents[of_shares[0 if rule == "best-rank" else i]] += 1
    cents += [0] * (len(ranked) - len(cents))
    shared_cents = deal(sum(cents[len(ranked) :]), len(ranked), rule)
    cents = [int(a + b) for a, b in zip(cents, shared_cents, strict=False)]
    paid = {}
    for rank in sorted(set(ranks.values())):
        tied = [i for i, entry in enumerate(ranked) if ranks[entry["entry"]] == rank]
        for i, part in zip(tied, deal(sum(cents[i] for i in tied), len(tied), rule), strict=True):
            paid[ranked[i]["participant"]] = (rank, ranked[i]["entry"], part)
    return sold, paid


@pytest.mark.requirement("L-05")
@pytest.mark.parametrize("block", range(4))
def test_random_tournaments_are_settled_as_computed_independently(block):
    seen = {"ties": 0, "refunded": 0, "excluded": 0, "lawful": 0, "short": 0}
    for seed in range(block * 100, block * 100 + 100):
        rng = random.Random(seed)
        data = draw_rules(rng)
        rules = Tournament.model_validate(data)
        entries = play(rng, data)
        rows = [{name: entry[name] for name in ("entry", "participant", "rounds")} for entry in entries]
        rng.shuffle(rows)
        found = compute_tournament_settlement(rules, Results.model_validate({"entries": rows}))
        sold, paid = pay(data, entries)
        assert found.retained_fees_cents == sold, seed
        assert {
            s.participant: (s.rank, s.entry_number, cents) for s, cents in found.list_standings_with_prizes()
        } == paid, seed
        assert found.retained_fees_cents + found.refunded_cents == len(entries) * data["entries"]["fee_cents"]
        total = sum(cents for _, _, cents in paid.values())
        assert found.shortfall_cents == max(0, ceil(Fraction(3, 10) * sold) - total)
        if paid:
            assert list(found.standings.refunded_entries) == [
                e["entry"] for e in entries if e["void"] == "refunded"
            ]
            assert list(found.standings.excluded_entries) == [
                e["entry"] for e in entries if e["void"] == "excluded"
            ]
        if not find_rules_shortfall(rules):
            assert not found.shortfall_cents, seed
            seen["lawful"] += 1
        seen["short"] += found.shortfall_cents > 0
        seen["ties"] += len({rank for rank, _, _ in paid.values()}) < len(paid)
        seen["refunded"] += bool(found.standings.refunded_entries)
        seen["excluded"] += bool(found.standings.excluded_entries)
    assert min(seen.values()) >= 5, seen


def find_rules_shortfall(rules):
    terms = rules.entries
    return find_prize_shortfall(
        rules.prize_plan,
        terms.fee_cents,
        entries_min=1 if rules.interrupted_round_rule == "refund" else terms.participants_min,
        participants_max=terms.participants_max,
        entries_per_participant=terms.per_participant,
        can_entries_lose_rank=rules.can_entries_lose_rank,
    )


@pytest.mark.requirement("L-05", "R-09")
def test_accepted_prizes_return_30_percent_at_every_number_of_entries_and_refused_ones_name_the_first_that_does_not():
    verdicts = set()
    for seed in range(150):
        rng = random.Random(seed)
        rules = Tournament.model_validate(draw_rules(rng))
        terms, plan = rules.entries, rules.prize_plan
        short = []
        for sold in range(
            1 if rules.interrupted_round_rule == "refund" else terms.participants_min,
            rules_entries(terms) + 1,
        ):
            least = 1 if rules.can_entries_lose_rank else -(-sold // terms.per_participant)
            for ranked in range(least, min(sold, terms.participants_max) + 1):
                fees = sold * terms.fee_cents
                if 10 * sum(compute_prizes(plan, fees, ranked)) < 3 * fees:
                    short.append((sold, ranked))
        found = find_rules_shortfall(rules)
        verdicts.add(found is None)
        assert (found is None) == (not short), seed
        if found is not None:
            assert (found.entry_count, found.ranked_count) == short[0]
            total = sum(compute_prizes(plan, found.entry_count * terms.fee_cents, found.ranked_count))
            assert total == found.prizes_cents
            fees = found.entry_count * terms.fee_cents
            assert 10 * (total + found.shortfall_cents) >= 3 * fees > 10 * (total + found.shortfall_cents - 1)
    assert verdicts == {True, False}


def rules_entries(terms):
    return terms.participants_max * terms.per_participant


def test_remaining_cents_go_by_the_stated_rule():
    thirds = [Fraction(1, 3)] * 3
    assert split_cents(101, thirds, "best-rank") == [35, 33, 33]
    assert split_cents(101, thirds, "in-order") == [34, 34, 33]
    assert divide_prizes_of_ties([100, 51, 10], [1, 1, 3], "in-order") == [76, 75, 10]


@pytest.mark.requirement("L-05")
def test_30_percent_of_odd_fees_is_rounded_up():
    plan = PrizePlan(
        fee_shares=(Fraction(3, 10),),
        amounts_cents=(0,),
        unclaimed_prize_rule="shared",
        remainder_rule="best-rank",
    )
    assert compute_prizes(plan, 33, 1) == [10]
