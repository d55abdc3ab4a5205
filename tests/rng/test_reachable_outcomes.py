"""Every outcome of every game can be generated, and the period exceeds every requested range."""

from math import log2, perm

import pytest
from rigs.rounds import play_decisions
from service_rig import start

from paytables import AnalysisDepth, Choice, RecordingDrawSource, analyse, list_non_table_games, load_game
from paytables.definition import parse, read_source
from rng.ctr_drbg import SEED_BYTES, CtrDrbg
from rng.draws import WordDraws
from rng.errors import InvalidRange
from rng.mechanism import REQUEST_BYTES_MAX, RESEED_INTERVAL, SECURITY_BYTES
from rng.scaling import choose_word_size
from rng.service import BYTES_PER_STEP_REQUEST

GAMES = 200


def word_stream(width, words):
    """Return draws from given words of ``width`` bytes."""
    stream = iter(words)
    return WordDraws(lambda count: next(stream).to_bytes(count, "little"))


def games_played(service, name):
    """Play games of a library game, each in one step; return the draws of each, and its number of Generates."""
    game = load_game(name)
    bets = [bet for bet in analyse(game, AnalysisDepth.RETURN).bets if bet.options]
    for n in range(GAMES):
        bet = bets[n % len(bets)]
        with service.step() as step:
            record = RecordingDrawSource(step)
            play = play_decisions(game, game.build_wager(bet.cost_credits, **bet.options), record)
            try:
                decision = next(play)
                while True:
                    decision = play.send(Choice(decision.options[n % len(decision.options)]))
            except StopIteration:
                yield [bound for bound, _, _ in record.records], step.request_count


def ranges(name):
    """Return the ranges of a library game's draws, including those of its rarest feature."""
    data = parse(read_source(name))
    found = {2} if "double_up" in data else set()
    found |= {level["one_in"] for level in data.get("progressive", ()) if "one_in" in level}
    if data["game"]["family"] == "wheel":
        found.add(len(data["wheel"]["parts"].split()))
    if data["game"]["family"] == "keno":
        field = data.get("field", {})
        numbers = field.get("numbers", 80)
        found |= set(range(numbers - field.get("drawn", 20) + 1, numbers + 1))
        found |= {sum(bonus["weights"].values()) for bonus in data.get("bonus", ()) if "weights" in bonus}
    for stage in data.get("stage", {}).values():
        found |= {len(strip.split()) for strip in stage.get("strips", ())}
        count = sum(item.get("count", 1) for item in stage.get("items", ()))
        found |= set(range(1, count + 1)) if stage.get("kind") == "pick" else {count} - {0}
        found |= {stage["coin"][1], *range(1, stage["cells"] + 1)} if stage.get("kind") == "hold" else set()
    return found


@pytest.mark.requirement("B-03")
def test_every_outcome_of_every_library_draw_has_its_own_words():
    """Each stop, ball, part or box comes from a range of words, which gives nothing else."""
    service = start()
    bounds = {bound for name in list_non_table_games() for bound in ranges(name)}
    assert {
        bound
        for name in list_non_table_games()
        for drawn, _ in games_played(service, name)
        for bound in drawn
    } <= bounds
    assert len(bounds) > 40
    for bound in bounds - {1}:
        width, share = choose_word_size(bound)
        assert bound * share <= 1 << 8 * width
        ends = [word for outcome in range(bound) for word in (outcome * share, (outcome + 1) * share - 1)]
        draws = word_stream(width, ends)
        drawn = [draws.below(bound) for _ in ends]
        assert drawn == [outcome for outcome in range(bound) for _ in range(2)]


@pytest.mark.requirement("B-03")
@pytest.mark.parametrize("name", list_non_table_games())
def test_one_generate_never_selects_among_more_outcomes_than_the_generator_has_keys(name):
    """A word is twice as wide as its range, so that the bytes of one Generate contain half as many bits of outcome."""
    service = start()
    for bounds, generates in games_played(service, name):
        bits = sum(log2(bound) for bound in bounds)
        assert bits <= 8 * SECURITY_BYTES * max(generates, 1)


@pytest.mark.requirement("B-03")
def test_a_deck_and_a_keno_draw_have_fewer_orders_than_the_generator_has_keys():
    assert perm(52, 52) < perm(57, 57) < 1 << 8 * SECURITY_BYTES
    assert perm(80, 20) < 1 << 8 * SECURITY_BYTES
    for population, picks in ((52, 52), (57, 57), (80, 20)):
        words = sum(choose_word_size(population - i)[0] for i in range(picks))
        assert words <= 2 * BYTES_PER_STEP_REQUEST <= REQUEST_BYTES_MAX
    assert 8 * BYTES_PER_STEP_REQUEST == 2 * 8 * SECURITY_BYTES


@pytest.mark.requirement("B-03")
def test_a_draw_among_more_outcomes_than_the_generator_has_keys_is_refused():
    keys = 1 << 8 * SECURITY_BYTES
    with start().step() as draws:
        assert draws.below(keys) < keys
    with start().step() as draws, pytest.raises(InvalidRange, match="a range has from 1 to"):
        draws.below(keys + 1)


@pytest.mark.requirement("B-03")
def test_the_period_exceeds_all_that_one_seed_may_generate():
    """Within a request, the counter of 128 bits changes at each block; between requests, the state changes.

    A state of 384 bits that changes as if at random returns after about 2**192 requests. One seed serves 2**48, so
    that a return has a chance of about 2**(2 * 48 - 384). The test shows that every step changes the whole state.
    """
    assert SEED_BYTES * 8 == 384
    assert REQUEST_BYTES_MAX // 16 + 3 < 1 << 128
    assert RESEED_INTERVAL**2 < 1 << 100
    drbg = CtrDrbg(bytes(range(48)), bytes(16))
    states, blocks = set(), set()
    for _ in range(2_000):
        output = drbg.generate(256)
        states.add((bytes(drbg._key), drbg._v))
        blocks.update(output[offset : offset + 16] for offset in range(0, 256, 16))
    assert len(states) == 2_000
    assert len(blocks) == 2_000 * 16
    assert len({key for key, _ in states}) == len({v for _, v in states}) == 2_000
