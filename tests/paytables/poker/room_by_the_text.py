"""A game of a poker room, computed again from the texts: who acts, the options, and the credits returned to each.

It is written from the by-law (ss. 67.88 to 67.108) and the game's help, and from no code of the product. The pots are
formed from the bets of all players, from the smallest bet up. Hands are compared as the best of every five cards.
"""

from itertools import combinations, pairwise

from tests.paytables.poker.hands_brute import ORDER, judge


def best(hole, board, uses=None):
    """Return the best hand of hole cards and board; with ``uses``, of exactly this number of hole cards."""
    if uses is None:
        return max(map(judge, combinations([*hole, *board], 5)))
    return max(
        judge([*hole_cards, *shared])
        for hole_cards in combinations(hole, uses)
        for shared in combinations(board, 5 - uses)
    )


def showing(cards):
    """Return the value of one to four cards face up: only pairs, threes and fours count, and high cards."""
    ranks = [ORDER.index(card[0]) for card in cards]
    groups = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    return [count for count, _ in groups], [rank for _, rank in groups]


class Books:
    """The record of a game: the stacks, the bets of each seat, and the seat that must act."""

    def __init__(self, rules, stacks, button):
        """``stacks`` are by seat; ``button`` is the seat with the button."""
        self.rules = rules
        seats = sorted(stacks)
        index = seats.index(button)
        self.order = seats[index + 1 :] + seats[: index + 1]
        self.left, self.bet = dict(stacks), dict.fromkeys(seats, 0)
        self.folded, self.last_bettor_seat = set(), None
        self.short_raises = self.odd_credits = 0
        ante = rules["ante"]
        for seat in seats:
            self.put(seat, ante)
        self.street(0)
        if rules["bring_in"] is not None:
            return
        two = len(seats) == 2
        small, big = (self.order[1], self.order[0]) if two else self.order[:2]
        self.stake(small, rules["small"])
        self.stake(big, rules["big"])
        self.price, self.last_bettor_seat = rules["big"], big
        self.after = big

    def bring_in(self, cards):
        """Force the lowest card face up, by rank and then by suit (clubs lowest), to bet."""
        lowest = min(
            self.order, key=lambda seat: (ORDER.index(cards[seat][0][0]), "cdhs".index(cards[seat][0][1]))
        )
        self.stake(lowest, self.rules["bring_in"])
        self.price, self.last_bettor_seat, self.after = self.rules["bring_in"], lowest, lowest

    def highest_acts_first(self, cards):
        """Let the highest cards face up act first; of equal ones, the first left of the button."""
        worth = {seat: showing(cards[seat]) for seat in self.alive()}
        first = next(seat for seat in self.order if worth.get(seat) == max(worth.values()))
        self.after = self.order[self.order.index(first) - 1]

    def put(self, seat, credits_):
        self.left[seat] -= credits_
        self.bet[seat] += credits_

    def stake(self, seat, credits_):
        self.put(seat, credits_)
        self.here[seat] += credits_

    def street(self, number):
        self.number = number
        self.here = dict.fromkeys(self.order, 0)
        self.least = self.rules["bets"][number] if self.rules["kind"] == "fixed" else self.rules["big"]
        self.price, self.step, self.raises = 0, self.least, 0
        self.spoken, self.closed = set(), set()  # since the last bet or raise; since the last full one
        self.after = self.order[-1]

    def alive(self):
        return [seat for seat in self.order if seat not in self.folded]

    def whose(self):
        """Return the seat that must act, or None if the betting round is over."""
        alive = self.alive()
        if len(alive) == 1:
            return None
        with_chips = [seat for seat in alive if self.left[seat]]
        index = self.order.index(self.after)
        for seat in self.order[index + 1 :] + self.order[: index + 1]:
            if seat in with_chips:
                owes = self.here[seat] < self.price
                if owes or (seat not in self.spoken and len(with_chips) > 1):
                    return seat
        return None

    def allowed(self, seat):
        """Return the credits that the seat may put in, by option."""
        owes = self.price - self.here[seat]
        found = {"fold": 0, "call": min(owes, self.left[seat])} if owes else {"check": 0}
        others = any(self.left[other] for other in self.alive() if other != seat)
        capped = self.rules["raises"] is not None and self.raises >= self.rules["raises"]
        rig = self.left[seat] - owes
        if rig <= 0 or not others or capped or seat in self.closed:
            return found
        pot = sum(self.bet.values()) + owes
        kind, by = self.rules["kind"], {}
        least = self.least_raise()
        by[least] = "raise" if self.price else "bet"
        highest = {"fixed": least, "spread": max(least, self.rules["most"] or 0), "pot": max(least, pot)}.get(
            kind, rig
        )
        if kind == "spread" and highest > least:
            by[highest] = "most"
        if kind in {"pot", "none"}:
            for name, size in (("half-pot", (pot + 1) // 2), ("pot", pot)):
                if size > least and size not in by:
                    by[size] = name
        by = {size: name for size, name in by.items() if size < rig}
        if rig <= highest:
            by[rig] = "all-in"
        return found | {name: owes + size for size, name in by.items()}

    def least_raise(self):
        """Return the lowest raise: up to the next multiple of a fixed limit, else as much as the last raise."""
        if self.rules["kind"] == "fixed":
            return next(n for n in range(1, self.least + 1) if (self.price + n) % self.least == 0)
        return max(self.step, self.least)

    def act(self, seat, option):
        credits_, least = self.allowed(seat)[option], self.least_raise()
        self.after = seat
        self.spoken.add(seat)
        self.closed.add(seat)
        if option == "fold":
            self.folded.add(seat)
            return
        self.stake(seat, credits_)
        raise_credits = self.here[seat] - self.price
        if raise_credits > 0:
            self.price, self.last_bettor_seat = self.here[seat], seat
            self.short_raises += raise_credits < least
            if raise_credits >= least:
                self.step, self.raises = raise_credits, self.raises + 1
                self.spoken, self.closed = {seat}, {seat}

    def settle(self, hands, rounds):
        """Return what each seat gets from the pots, what it keeps beside them, and the commission.

        ``hands`` are the values of the remaining hands; ``rounds`` is the number of betting rounds that were dealt.
        """
        stacks, paid = dict(self.left), dict(self.bet)
        top = max(paid.values())
        alone = [seat for seat in paid if paid[seat] == top]
        if len(alone) == 1:
            second = max(credits_ for seat, credits_ in paid.items() if seat != alone[0])
            stacks[alone[0]] += top - second
            paid[alone[0]] = second
        pots = {}
        for below, level in pairwise([0, *sorted({*paid.values()} - {0})]):
            contributors = [seat for seat in paid if paid[seat] >= level]
            able = tuple(seat for seat in self.order if seat in contributors and seat not in self.folded)
            pots[able] = pots.get(able, 0) + len(contributors) * (level - below)
        back, commission = dict.fromkeys(paid, 0), 0
        for able, credits_ in pots.items():
            rake = min(credits_ * self.rules["percent"] // 100, self.rules["cap"] - commission)
            rake = rake if rounds >= self.rules["raked_from"] else 0
            commission += rake
            highest = max(hands[seat] for seat in able)
            winners = [seat for seat in able if hands[seat] == highest]
            self.odd_credits += (credits_ - rake) % len(winners)
            for n in range(credits_ - rake):  # credit by credit, the first left of the button first
                back[winners[n % len(winners)]] += 1
        return back, stacks, paid, commission
