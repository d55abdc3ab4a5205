"""Rounds of the best play counted, card by card: for laboratories (numpy, numba), where no count is exact.

That is what a shoe returns that is dealt to its stop card, and how the nets of more hands are spread than
:mod:`paytables.blackjack.law` reaches, or those against several hands of the dealer's. The play is that of a
fresh shoe, of one box alone. What is drawn are words of SHAKE-256 of a seed, so that the same comes out
again; a cabinet draws nothing here.
"""

from __future__ import annotations

from fractions import Fraction
from hashlib import shake_256
from math import isqrt, lcm
from typing import TYPE_CHECKING, Final

import numpy as np

from paytables.blackjack.advice import SIX_SEVEN_EIGHT, PlayData
from paytables.blackjack.hands import CARD, decks_of, every_hand
from paytables.blackjack.schema import ACES, TEN, VALUES, BlackjackDefinition, Sampled
from paytables.blackjack.weighed import compiled
from paytables.poker.proof import exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from paytables.cards.arrays import Ints

ROUNDS: Final = 20_000_000
SEED: Final = "blackjack"
#: Words drawn at once, and more than one round may take.
_WORDS, _ROUND = 1 << 22, 1 << 10
#: The most a box may win or lose, in stakes, in round numbers.
_MOST: Final = 64
_VALUES: Final = np.array(VALUES)
_SEVENS: Final = 3 * CARD[6]
_ACES_TENS: Final = (ACES, TEN)
_BURN_FIRST: Final = -1


def sample(
    definition: BlackjackDefinition, play: PlayData, rounds: int = ROUNDS, seed: str = SEED
) -> Sampled:
    """Play at least so many rounds, to the end of a shoe, and return how often each net came."""
    house, shoe = definition.house, definition.shoe
    paid = [house.blackjack, house.insurance, house.sevens, house.suited_678]
    unit = 2 * lcm(*(odds.denominator for odds in paid if odds is not None))
    hands = definition.main.hands
    known = list(every_hand(decks_of(house.decks)).items())
    place = {hand: n for n, (hand, _) in enumerate(known)}
    after: Ints = np.full((len(known), TEN + 1), -1, dtype=np.int64)
    totals: Ints = np.array([(each.best, each.soft) for _, each in known], dtype=np.int64)
    for n, (_, each) in enumerate(known):
        for value, child in each.next:
            after[n, value + 1] = place[child]
    answers, splits, insured = _tables(play, place)
    rules = [
        *(house.hole, house.hits_soft_17, house.hole or house.original_only, house.original_only),
        *(house.hands, house.ace_hands, house.aces_one_card, house.same_rank, unit, hands),
        *(0 if odds is None else int(odds * unit) for odds in paid),
        *(up in house.even_money and play.takes_even_money(up) for up in _ACES_TENS),
        *(
            -1 if shoe.stop is None else shoe.stop,
            _BURN_FIRST if shoe.burn is True else shoe.burn,
        ),
        *(place.get(_SEVENS, -2), place.get(SIX_SEVEN_EIGHT, -2)),
        shoe.rounds if shoe.stop is None else rounds,
    ]
    cards: Ints = np.arange(52 * house.decks) % 52
    at: Ints = np.zeros(4, dtype=np.int64)
    found: Ints = np.zeros((hands, 2 * hands * _MOST * unit + 1), dtype=np.int64)
    shoes: Ints = np.zeros(6, dtype=np.int64)
    block = 0
    while found[0].sum() < rounds:
        words = np.frombuffer(shake_256(f"{seed} {block}".encode()).digest(4 * _WORDS), dtype="<u4")
        at[0], block = 0, block + 1
        compiled(_play)(
            compiled(_card), words, cards, at, np.array(rules, dtype=np.int64), after, totals, _VALUES,
            answers, splits, insured, found, shoes, rounds,
        )  # fmt: skip
    middle = hands * _MOST * unit
    nets = {
        str(banks): {
            exact(Fraction(net - middle, unit)): int(count) for net, count in enumerate(row) if count
        }
        for banks, row in enumerate(found, 1)
    }
    return Sampled(rounds=int(found[0].sum()), seed=seed, nets=nets, error=exact(_error(shoes, unit)))


def _error(shoes: Ints, unit: int) -> Fraction:
    """Return the standard error of the mean net of a stake, by whole shoes: their rounds hang together."""
    count, rounds, net, rounds_squared, nets_squared, both = map(int, shoes)
    mean = Fraction(net, rounds)
    spread = (nets_squared - 2 * mean * both + mean**2 * rounds_squared) * Fraction(count, count - 1)
    parts = 10**14 * spread / (rounds * unit) ** 2
    return Fraction(1 + isqrt(parts.numerator // parts.denominator), 10**7)


def _tables(play: PlayData, place: dict[int, int]) -> tuple[Ints, Ints, Ints]:
    """The best play as arrays: answers by kind and hand, how often pairs are split, what is insured."""
    shape = TEN + 1, TEN + 1, 2, 2, 2, len(place)
    answers: Ints = np.zeros(shape, dtype=np.uint8)
    for (kind, hand, suited), answer in zip(play.places, play.text, strict=False):
        rows = slice(suited, None) if suited else slice(None)
        answers[kind.up, kind.pair, int(kind.paired), int(kind.fewer), rows, place[hand]] = answer
    ups = range(ACES, TEN + 1)
    splits: Ints = np.zeros((TEN + 1, TEN + 1, 2), dtype=np.int64)
    for up in ups:
        for pair in ups:
            splits[up, pair] = [play.split(up, pair, fewer=fewer) for fewer in (False, True)]
    insured: Ints = np.zeros((TEN + 1, TEN + 1), dtype=np.int64)
    for one in ups:
        for other in ups:
            insured[one, other] = play.insures([one, other])
    return answers, splits, insured


def _card(words: Ints, cards: Ints, at: Ints) -> int:  # pragma: no cover (compiled)
    """Take a card out of the shoe, any of what is left as likely."""
    left = np.uint64(len(cards) - at[1])
    whole = np.uint64(1 << 32)
    product = np.uint64(words[at[0]]) * left
    at[0] += 1
    while product % whole < whole % left:
        product = np.uint64(words[at[0]]) * left
        at[0] += 1
    other = at[1] + np.int64(product // whole)
    cards[at[1]], cards[other] = cards[other], cards[at[1]]
    at[1] += 1
    return int(cards[at[1] - 1])


def _play(  # noqa: C901, PLR0912, PLR0915 (one loop for numba)
    card: Callable[..., int],
    words: Ints,
    shoe: Ints,
    at: Ints,
    rules: Ints,
    after: Ints,
    totals: Ints,
    values: Ints,
    answers: Ints,
    splits: Ints,
    insured: Ints,
    found: Ints,
    shoes: Ints,
    rounds: int,
) -> None:  # pragma: no cover (compiled)
    hole, h17, kept, spares, hands_most, aces_most, one_card, same_rank, unit, banks = rules[:10]
    natural_pays, insurance_pays, sevens_pay, suited_pay, even_ace, even_ten, stop, burn = rules[10:18]
    sevens, suited_678, served = rules[18:21]
    first, second = np.zeros(6, np.int64), np.zeros(6, np.int64)
    many, node, stakes = np.zeros(6, np.int64), np.zeros(6, np.int64), np.zeros(6, np.int64)
    won, same = np.zeros(6, np.int64), np.zeros(6, np.bool_)
    while at[0] + _ROUND < len(words):
        if at[1] == 0 or len(shoe) - at[1] <= stop or at[2] >= served:  # of this shoe: rounds, nets
            if at[2]:
                shoes[0] += 1
                shoes[1] += at[2]
                shoes[2] += at[3]
                shoes[3] += at[2] * at[2]
                shoes[4] += at[3] * at[3]
                shoes[5] += at[2] * at[3]
                at[2] = at[3] = 0
                if shoes[1] >= rounds:
                    return
            at[1] = 0
            away = burn
            if burn < 0:
                away = values[card(words, shoe, at) >> 2]
            for _ in range(away):
                card(words, shoe, at)
        first[0] = card(words, shoe, at)
        up_card = card(words, shoe, at)
        second[0] = card(words, shoe, at)
        hidden = card(words, shoe, at) if hole else 0
        up, one, two = values[up_card >> 2], values[first[0] >> 2], values[second[0] >> 2]
        node[0], many[0], stakes[0], won[0] = after[after[0, one], two], 2, 1, 0
        same[0] = first[0] & 3 == second[0] & 3
        hands, split, pair = 1, False, 0
        natural = one + two == 11 and (one == 1 or two == 1)
        is_even = natural and ((up == 1 and even_ace) or (up == 10 and even_ten))
        is_insured = not is_even and up == 1 and insured[one, two] and insurance_pays
        ends = hole and up + values[hidden >> 2] == 11 and up in (1, 10)
        hand = 0
        while hand < hands and not natural and not ends:
            if many[hand] == 1:
                second[hand] = card(words, shoe, at)
                node[hand] = after[node[hand], values[second[hand] >> 2]]
                same[hand], many[hand] = first[hand] & 3 == second[hand] & 3, 2
            while node[hand] >= 0:
                if many[hand] == 3 and node[hand] == sevens and sevens_pay:
                    won[hand] = sevens_pay
                if many[hand] == 3 and node[hand] == suited_678 and same[hand] and suited_pay:
                    won[hand] = suited_pay
                best, soft = totals[node[hand]]
                if won[hand]:
                    break
                low = values[first[hand] >> 2]
                fewer = int(same_rank and low == 10 and first[hand] >> 2 == up_card >> 2)
                twins = many[hand] == 2 and low == values[second[hand] >> 2]
                if same_rank:
                    twins = twins and first[hand] >> 2 == second[hand] >> 2
                limit = aces_most if low == 1 else hands_most
                if twins and hands < limit and splits[up, low, fewer] > hands:
                    for n in range(hands, hand + 1, -1):
                        first[n], second[n], many[n], node[n] = (
                            first[n - 1],
                            second[n - 1],
                            many[n - 1],
                            node[n - 1],
                        )
                        stakes[n], won[n], same[n] = stakes[n - 1], won[n - 1], same[n - 1]
                    first[hand + 1], many[hand + 1], node[hand + 1] = second[hand], 1, after[0, low]
                    stakes[hand + 1], won[hand + 1] = 1, 0
                    hands, split, pair = hands + 1, True, low
                    second[hand] = card(words, shoe, at)
                    node[hand] = after[after[0, low], values[second[hand] >> 2]]
                    same[hand] = first[hand] & 3 == second[hand] & 3
                    continue
                if stakes[hand] == 2 or (best == 21 and not soft) or (split and low == 1 and one_card):
                    break
                paired = int(split and values[second[hand] >> 2] == pair)
                suits = int(first[hand] & 3 == second[hand] & 3)
                answer = answers[up, pair, paired, fewer if split else 0, suits, node[hand]]
                if answer == 0:
                    break
                if answer == 2:
                    stakes[hand] = 2
                drawn = card(words, shoe, at)
                same[hand] = same[hand] and drawn & 3 == first[hand] & 3
                node[hand], many[hand] = after[node[hand], values[drawn >> 2]], many[hand] + 1
            hand += 1
        compared, waits = False, natural and not is_even
        for n in range(hands):
            if natural or ends or won[n]:
                continue
            if node[n] >= 0:
                compared = True
            elif spares and up in (1, 10) and (n or stakes[n] == 2):
                waits = True
        total = 0
        for bank in range(banks):
            sum_, aces, drawn = up, int(up == 1), 1
            if hole:
                sum_, aces, drawn = up + values[hidden >> 2], aces + int(values[hidden >> 2] == 1), 2
            elif compared or ((waits or is_insured) and up in (1, 10)):
                value = values[card(words, shoe, at) >> 2]
                sum_, aces, drawn = sum_ + value, aces + int(value == 1), 2
            while compared:
                best = sum_ + 10 if aces and sum_ <= 11 else sum_
                if best > 17 or (best == 17 and not (h17 and sum_ == 7)):
                    break
                value = values[card(words, shoe, at) >> 2]
                sum_, aces, drawn = sum_ + value, aces + int(value == 1), drawn + 1
            best = sum_ + 10 if aces and sum_ <= 11 else sum_
            beaten = drawn == 2 and best == 21
            if is_insured:
                total += insurance_pays // 2 if beaten else -(unit // 2)
            for n in range(hands):
                if is_even:
                    total += unit
                elif natural:
                    total += 0 if beaten else natural_pays
                elif won[n]:
                    total += won[n] * stakes[n]
                elif beaten and kept:
                    total -= unit if n == 0 else 0
                elif beaten or node[n] < 0:
                    total -= unit * stakes[n]
                elif best > 21 or totals[node[n], 0] > best:
                    total += unit * stakes[n]
                elif totals[node[n], 0] < best:
                    total -= unit * stakes[n]
            found[bank, total + found.shape[1] // 2] += 1
            if bank == 0:
                at[3] += total
        at[2] += 1
