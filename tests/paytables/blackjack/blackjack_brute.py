"""Blackjack by brute force for tests: every order of a tiny shoe, one play at a time, without code of the product.

A play is a function of the cards of the hand alone; the best play is found by trying all of them.
"""

from collections import Counter
from fractions import Fraction

STAND, HIT, DOUBLE = "stand", "hit", "double"


def total(cards):
    hard = sum(cards)
    return hard + 10 if 1 in cards and hard <= 11 else hard


def soft(cards):
    return 1 in cards and sum(cards) <= 11


def natural(cards):
    return sorted(cards) == [1, 10]


class Brute:
    """The rules of one house; ``measure`` is the function of a net whose mean is computed.

    ``lost`` is what the dealer's blackjack takes: ``"all"`` stakes, ``"first"`` for only the first one, or
    ``"features"``.
    """

    def __init__(
        self,
        *,
        h17=False,
        lost="all",
        peek=False,
        das=True,
        hands=2,
        ace_hands=2,
        sevens=None,
        measure=lambda net: net,
    ):
        self.measure = measure
        self.h17, self.lost, self.peek, self.das = h17, lost, peek, das
        self.hands, self.ace_hands, self.sevens = hands, ace_hands, sevens

    def dealers(self, shoe, up):
        """Yield the dealer's final hands with the chance of each."""
        yield from self._complete_dealer_hand(shoe, (up,), Fraction(1))

    def _complete_dealer_hand(self, shoe, cards, chance):
        if total(cards) > 17 or (total(cards) == 17 and not (self.h17 and soft(cards))):
            yield cards, chance
            return
        size = sum(shoe.values())
        assert size, "the shoe is too small for the round"
        for card, count in list(shoe.items()):
            if count:
                shoe[card] -= 1
                yield from self._complete_dealer_hand(shoe, (*cards, card), chance * Fraction(count, size))
                shoe[card] += 1

    def box(self, shoe, up, cards, play, *, split):
        """Return the mean net of two cards, and of all that is staked, where the dealer may have a blackjack."""
        first = [(c,) for c in cards] if split else [tuple(cards)]
        return self._play(shoe, up, first, [], play, came_of_split=split)

    def _play(self, shoe, up, waiting, finished, play, *, came_of_split):
        if not waiting:
            return self._settled(shoe, up, finished)
        hand, waiting_after = waiting[0], waiting[1:]

        def then(waiting, finished):
            return self._play(shoe, up, waiting, finished, play, came_of_split=came_of_split)

        def drawn(after):
            size, mean = sum(shoe.values()), Fraction(0)
            for card, count in list(shoe.items()):
                if count:
                    shoe[card] -= 1
                    mean += Fraction(count, size) * after(card)
                    shoe[card] += 1
            return mean

        if len(hand) == 1:
            return drawn(lambda card: then([(*hand, card), *waiting_after], finished))
        count = len(waiting) + len(finished)
        pair = came_of_split and len(hand) == 2 and hand[0] == hand[1]
        if pair and count < (self.ace_hands if hand[0] == 1 else self.hands):
            return then([hand[:1], hand[:1], *waiting_after], finished)
        ended = total(hand) >= 21 and not soft(hand)
        if came_of_split and hand[0] == 1 and len(hand) == 2:
            ended = True
        key = (
            up,
            tuple(sorted(hand)),
            came_of_split,
            is_unsplit_pair(hand, waiting, finished, came_of_split),
        )
        answer = STAND if ended else play(key, can_double=len(hand) == 2 and (self.das or not came_of_split))
        if answer == STAND:
            return then(waiting_after, [*finished, (hand, 1, came_of_split)])
        if answer == DOUBLE:
            return drawn(lambda card: then(waiting_after, [*finished, ((*hand, card), 2, came_of_split)]))
        return drawn(lambda card: then([(*hand, card), *waiting_after], finished))

    def _settled(self, shoe, up, finished):
        mean = Fraction(0)
        for dealer, chance in self.dealers(shoe, up):
            mean += chance * self.measure(self._compute_spot_net(dealer, finished))
        return mean

    def _compute_spot_net(self, dealer, finished):
        beaten = natural(dealer)
        if beaten and not finished[0][2] and natural(finished[0][0]):
            return 0
        if beaten and self.peek:
            return -1
        net = 0
        for number, (hand, stake, came_of_split) in enumerate(finished):
            if self.sevens is not None and sorted(hand) == [7, 7, 7]:
                net += stake * self.sevens
            elif beaten and self.lost == "first":
                net -= 1 if number == 0 else 0
            elif beaten:
                net -= 0 if natural(hand) and not came_of_split else stake
            elif natural(hand) and not came_of_split:
                net += Fraction(3, 2)
            elif total(hand) > 21 or (total(dealer) <= 21 and total(hand) < total(dealer)):
                net -= stake
            elif total(dealer) > 21 or total(hand) > total(dealer):
                net += stake
        return net


class BruteBacker(Brute):
    """The same for another player's stake on the hand: it stays on the first hand of a split, and is never doubled."""

    def _compute_spot_net(self, dealer, finished):
        hand, _, came_of_split = finished[0]
        return super()._compute_spot_net(dealer, [(hand, 1, came_of_split)])


def is_unsplit_pair(hand, waiting, finished, came_of_split):
    """Return whether a hand began as a pair that could not be split again; its play may depend on that."""
    return came_of_split and len(hand) >= 2 and hand[0] == hand[1]


def shoe_of(counts):
    return Counter({value: count for value, count in enumerate(counts, 1) if count})
