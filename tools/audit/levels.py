"""Every progressive level derived again: its value at each wager, its mystery draws, its hits, their payment.

Nothing the machine says of an amount is believed: the terms come from the entry that opened the level, the
share and the odds from the game's definition, the wager and the draws from the game's entry. What follows
from them must be the transfers, the state and the awards the machine wrote. A mystery prize that a controller
found won must have the secret this machine had heard the commitment to before.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from egm.exact import rational
from egm.progressive import posting
from egm.progressive.level import Level, LevelDefectiveError, Terms, TermsError
from egm.progressive.round import MYSTERY
from egm.progressive.trigger import Trigger, TriggerError
from egm.records.games import CARRIED_GAME
from meters import Phase, StoredEntry, Transfer
from meters.recall import PLAY_ENDS, PLAY_START, PLAY_STEPS, details
from paytables import Game, LevelPlay, PaytableError, Wager
from tools.audit.clears import is_of_a_clear
from tools.audit.games import Shelf

_OPENED: Final = "progressive.opened"
_CHANGED: Final = "progressive.changed"
_ANSWERS: Final = ("progressive.award", "progressive.unanswered")
_SEALED: Final = "progressive.sealed"
_WON: Final = "progressive.won"
_REGISTERED: Final = ("progressive.hit", "progressive.hit_broadcast")
_RULED: Final = "progressive.ruled"
_BY_HAND: Final = "out:handpay_progressive"
_HOUSE: Final = "house:progressive:"


@dataclass(slots=True)
class _Play:
    """An open game: its pools by level, and its hits so far as (pool, amount or claim)."""

    pools: Mapping[str, str] = field(default_factory=dict)
    hits: list[tuple[str, int | str]] = field(default_factory=list)
    game: str = ""


class LevelAudit:
    """Follows the entries in order; ``fault`` is told of each that does not come out as recorded."""

    def __init__(self, games: Shelf, fault: Callable[[StoredEntry, str], None]) -> None:
        self._games = games
        self._fault = fault
        self._open: dict[str, _Play] = {}
        self._sequences: dict[str, int] = {}
        self._answers: dict[str, int] = {}
        self._seals: dict[tuple[str, int], str] = {}
        """The commitment to each prize of a level, as it was heard first."""
        self._registered: dict[str, list[StoredEntry]] = {}
        """What the register of wins has of a play."""
        self._levelless: set[str] = set()
        """Games that play for no level, by digest."""
        self._late: dict[str, Mapping[str, Any]] = {}
        """The same of plays that were over, by the id of the line."""
        self._ruled: set[str] = set()
        """Claims two persons have ruled on."""
        self._wagers: dict[tuple[str, int], str] = {}
        """The play of each contribution to a controller's mystery level."""
        self._mysteries: dict[str, tuple[Fraction, int]] = {}
        """What each wager adds to a controller's mystery level, and its ceiling, by the game's definition."""
        self.levels: dict[str, Level] = {}
        self._stakes: dict[str, tuple[Any, ...]] = {}

    def see(self, entry: StoredEntry) -> None:
        """Take one entry of the journal."""
        kind = entry.transaction.kind
        try:
            if kind == PLAY_START:
                told = details(entry)
                if told["game"]["digest"] not in self._levelless or "pools" in told:
                    self._started(entry, told)
            elif kind in PLAY_ENDS:
                self._ended(entry, self._open.pop(str(details(entry).get("play_id")), None))
            else:
                self._see_other(entry, kind)
        except (KeyError, TypeError, ValueError, AttributeError, TermsError) as why:
            self._fault(entry, f"what it says of progressive levels cannot be read: {why!r}")
        except LevelDefectiveError as why:
            self._fault(entry, f"a progressive level cannot do what it says: {why}")

    def close(self, balance_cents: Callable[[str], int]) -> Iterable[str]:
        """Yield what is wrong between the levels as derived and the accounts they stand on."""
        for pool, level in sorted(self.levels.items()):
            try:
                posting.compare(pool, level, balance_cents)
            except LevelDefectiveError as why:
                yield str(why)

    # ------------------------------------------------------------------ entry by entry
    def _see_other(self, entry: StoredEntry, kind: str) -> None:
        told = details(entry)
        if kind in PLAY_STEPS:
            if told.get("play_id") in self._open:
                moved = _Moves(self.levels)
                self._hit(entry, told, moved, [])
                self._check_moves(entry, moved)
        elif kind.startswith("progressive."):
            self._see_level(entry, kind, told)
        elif is_of_a_clear(kind):
            self._carried(entry, kind, told)

    def _carried(self, entry: StoredEntry, kind: str, told: Mapping[str, Any]) -> None:
        """What a clear has carried over: levels, contributions, claims, commitments, and open games."""
        state: Mapping[str, Any] = entry.state
        for name, kept in state.items():
            prefix, _, rest = name.partition(":")
            if prefix == "level":
                self._carried_level(entry, rest, dict(kept), told)
            elif prefix == "link":
                self._sequences[rest] = int(kept["sequence"])
            elif prefix == "claim" and kept["amount_cents"] is not None:
                self._answers[rest] = int(kept["amount_cents"])
            elif prefix == "sealed":
                self._seals[rest, int(kept["prize"])] = str(kept["commitment"])
        if kind == CARRIED_GAME and "fed" in told:
            play_id = str(told["play_id"])
            for share in told["fed"]:
                if "sequence" in share:
                    self._wagers[share["pool"], int(share["sequence"])] = play_id
            if "ended" not in told:
                hits = [
                    (hit["pool"], hit.get("claim", hit.get("amount_cents"))) for hit in told.get("hits", ())
                ]
                self._open[play_id] = _Play(told["pools"], hits)

    def _carried_level(
        self, entry: StoredEntry, pool: str, kept: dict[str, Any], told: Mapping[str, Any]
    ) -> None:
        opened = told.get("opened")
        if isinstance(opened, Mapping):
            self._stakes[pool] = opened["game"], opened["level"], opened["stake_cents"]
        self.levels[pool] = Level.from_json(kept)
        posting.compare(pool, self.levels[pool], lambda name: _into(entry, name))

    def _see_level(self, entry: StoredEntry, kind: str, told: Mapping[str, Any]) -> None:
        if kind == _OPENED:
            self._opened(entry, told)
        elif kind == _CHANGED:
            pool = str(told["pool"])
            self.levels[pool] = self.levels[pool].change(Terms.from_json(told["terms"]))
            self._check_state(entry, [pool])
        elif kind == "progressive.moved":
            self._moved(entry, str(told["source"]), str(told["target"]))
        else:
            self._heard(entry, kind, told)

    def _heard(self, entry: StoredEntry, kind: str, told: Mapping[str, Any]) -> None:
        """What a controller has said."""
        if kind == _SEALED:
            self._seals.setdefault((str(told["pool"]), int(told["prize"])), str(told["commitment"]))
        elif kind == _WON:
            self._won(entry, told)
        elif kind in _REGISTERED:
            self._register(entry, told)
        elif kind == "progressive.undecided":
            play = self._open.get(str(told["play_id"]))
            if play is None or set(told["pools"]) - set(play.pools.values()):
                self._fault(entry, f"the play that is open does not play for {told['pools']}")
        elif kind == _RULED:
            self._rule(entry, told)
        elif kind in _ANSWERS:
            self._answers.setdefault(str(told["claim"]), int(told["amount_cents"]))
        elif kind == "progressive.ahead":
            self._sequences[str(told["pool"])] = int(told["counted"])

    def _rule(self, entry: StoredEntry, told: Mapping[str, Any]) -> None:
        """What two persons ruled of a claim that was not proved; of a game's own hit, what it is worth."""
        claim = str(told["claim"])
        if len(set(told["persons"])) < 2 or not str(told["reason"]).strip():
            self._fault(entry, f"claim {claim} was ruled on by {told['persons']}, for {told['reason']!r}")
        self._ruled.add(claim)
        if "awarded_cents" in told:
            self._answers.setdefault(claim, int(told["awarded_cents"]))

    def _opened(self, entry: StoredEntry, told: Mapping[str, Any]) -> None:
        pool = str(told["pool"])
        if pool in self.levels:
            self._fault(entry, f"level {pool} is opened twice")
        self._stakes[pool] = told["game"], told["level"], told["stake_cents"]
        level = self.levels[pool] = Level.open(Terms.from_json(told["terms"]))
        self._same(entry, posting.opening(pool, level))
        self._check_state(entry, [pool])

    def _moved(self, entry: StoredEntry, source: str, target: str) -> None:
        giving, taking = self.levels[source], self.levels[target]
        amount, self.levels[source] = giving.release()
        self.levels[target] = taking.receive(amount)
        self._same(entry, posting.moved((source, giving), (target, taking, self.levels[target])))
        self._check_state(entry, (source, target))

    def _started(self, entry: StoredEntry, told: Mapping[str, Any]) -> None:
        named = told["game"]
        game = self._games.find(named["id"], named["digest"])
        if game is not None and not game.every_level():
            self._levelless.add(game.digest)
        plays = () if game is None else self._plays(entry, game, told)
        if game is None or not plays:  # the audit of games says when a definition is missing
            return
        play = self._open[str(told["play_id"])] = _Play(told["pools"], game=game.id)
        moved, wager_cents = _Moves(self.levels), told["bet_credits"] * told["denomination_cents"]
        mysteries: list[tuple[str, str]] = []
        draws = list(told["mystery"])
        shares = {share["pool"]: share for share in told["fed"]}
        if any(share["wager_cents"] != wager_cents for share in shares.values()):
            self._fault(entry, f"it feeds its levels with another wager than {wager_cents}")
        for each in plays:
            pool = play.pools[each.level]
            if pool not in self.levels:
                if pool in shares:  # a broadcast level is fed from the meters
                    self._contributed(entry, each, shares[pool], wager_cents)
                    if each.ceiling_credits is not None:
                        self._wagers[pool, int(shares[pool]["sequence"])] = str(told["play_id"])
                        ceiling_cents = each.ceiling_credits * told["denomination_cents"]
                        self._mysteries[pool] = wager_cents * each.increment, ceiling_cents
                continue
            before = self.levels[pool]
            self._check_terms(entry, pool, each, (game.id, told["denomination_cents"]))
            moved.step(pool, before.contribute(wager_cents))
            if _mystery_hit(pool, before.mystery_odds(wager_cents), draws):
                mysteries.append((each.level, pool))
        if draws:
            self._fault(entry, f"{len(draws)} mystery draws that no level asked for")
        self._hit(entry, told, moved, mysteries)
        self._check_moves(entry, moved)

    def _plays(self, entry: StoredEntry, game: Game, told: Mapping[str, Any]) -> tuple[LevelPlay, ...]:
        try:
            plays = game.levels(Wager.from_json(told["wager"]))
        except PaytableError as why:
            self._fault(entry, f"its wager is none: {why}")
            return ()
        fed = told.get("pools", {}).keys()
        if not plays and not fed:
            return ()
        missing = {each.level for each in plays} ^ fed
        if missing:
            self._fault(entry, f"the wager and its entry differ on level {min(missing)}")
        return tuple(each for each in plays if each.level in fed)

    def _check_terms(self, entry: StoredEntry, pool: str, play: LevelPlay, of: tuple[str, int]) -> None:
        """The pool is that of this game, level and stake, and its terms are the definition's."""
        game_id, denomination_cents = of
        if self._stakes[pool] != (game_id, play.level, play.stake_credits * denomination_cents):
            self._fault(entry, f"level {pool} is that of {self._stakes[pool]}")
        level = self.levels[pool]
        due = (play.increment, play.reset_credits * denomination_cents)
        kept = [(terms.increment, terms.base_cents) for terms in (level.terms, level.next_terms) if terms]
        if due not in kept:
            self._fault(entry, f"level {pool} grows and starts by {kept[0]}, its game says {due}")

    def _contributed(
        self, entry: StoredEntry, play: LevelPlay, share: Mapping[str, Any], wager_cents: int
    ) -> None:
        """A linked level: the share is exact and its number the next."""
        pool, sequence = share["pool"], share["sequence"]
        due = self._sequences.get(pool, 0) + 1
        if sequence != due:
            self._fault(entry, f"contribution {sequence} to {pool}, {due} was due")
        self._sequences[pool] = sequence
        if rational(share["amount"]) != wager_cents * play.increment or share["wager_cents"] != wager_cents:
            self._fault(entry, f"contribution {sequence} to {pool} is not {wager_cents * play.increment}")

    def _won(self, entry: StoredEntry, told: Mapping[str, Any]) -> None:
        """A controller's mystery: by a wager of this machine, at the amount it had committed to, once."""
        pool, claim, amount_cents = str(told["pool"]), str(told["claim"]), int(told["amount_cents"])
        play_id = str(told["play_id"])
        if self._wagers.get((pool, int(told["sequence"]))) != play_id:
            self._fault(entry, f"contribution {told['sequence']} to {pool} was not that of {play_id}")
        if claim in self._answers:
            self._fault(entry, f"claim {claim} is won twice")
        if claim not in self._ruled:
            self._check_secret(entry, pool, told, amount_cents)
        play, late = self._open.get(play_id), told.get("late")
        if late == "hand":
            line = self._late.pop(f"{claim}.hit", {})
            found = [line.get(name) for name in ("play_id", "pool", "amount_cents", "way")]
            if found != [play_id, pool, amount_cents, "hand"]:
                self._fault(entry, f"the register of wins has {found} of it")
        due = [(f"{_HOUSE}{pool}", _BY_HAND, amount_cents)] if late == "hand" else []
        if [(t.source, t.target, t.amount_cents) for t in entry.transfers] != due:
            self._fault(entry, f"its prize of {amount_cents} should have moved {due or 'nothing'}")
        if (play is None) != (late is not None) and claim not in self._ruled:
            self._fault(entry, f"{play_id} was {'over' if play is None else 'open'} when it won {pool}")
        if play is not None and late is None:
            self._answers[claim] = amount_cents
            play.hits.append((pool, claim))

    def _check_secret(
        self, entry: StoredEntry, pool: str, told: Mapping[str, Any], amount_cents: int
    ) -> None:
        try:
            trigger = Trigger.from_json(told["trigger"])
        except TriggerError as why:
            self._fault(entry, str(why))
            return
        commitment = self._seals.get((pool, trigger.number))
        if commitment is None:
            self._fault(entry, f"level {pool}: no commitment to prize {trigger.number} was heard before")
        elif trigger.level != pool or commitment != trigger.commitment:
            self._fault(entry, f"level {pool}: its secret is not the one that was committed to")
        terms = self._mysteries.get(pool)
        if terms is not None and (trigger.step, trigger.ceiling_cents) != terms:
            self._fault(entry, f"level {pool}: it grows by {trigger.step} to {trigger.ceiling_cents}")
        if not int(trigger.amount) <= amount_cents <= trigger.ceiling_cents:
            self._fault(entry, f"level {pool}: {amount_cents} was not won at {trigger.amount}")

    def _hit(
        self,
        entry: StoredEntry,
        told: Mapping[str, Any],
        moved: "_Moves",
        mysteries: list[tuple[str, str]],
    ) -> None:
        """Lock what this step hit: mysteries first, then what the outcome names."""
        play = self._open[str(told["play_id"])]
        named = () if told["outcome"] is None else told["outcome"]["progressives"]
        expected = [*mysteries, *((level, play.pools[level]) for level in named)]
        recorded = list(told.get("hits", ()))
        if [(hit["level"], hit["pool"]) for hit in recorded] != expected:
            self._fault(entry, f"it hit {expected}, and records {[hit['pool'] for hit in recorded]}")
            return
        for (_, pool), hit in zip(expected, recorded, strict=True):
            if pool not in self.levels:
                play.hits.append((pool, hit["claim"] if "claim" in hit else hit["amount_cents"]))
                continue
            amount_cents, after = self.levels[pool].hit()
            moved.step(pool, after)
            play.hits.append((pool, amount_cents))
            if hit["amount_cents"] != amount_cents:
                self._fault(entry, f"level {pool} showed {amount_cents}, {hit['amount_cents']} was locked")

    def _ended(self, entry: StoredEntry, play: _Play | None) -> None:
        if play is None and entry.transaction.kind == "game.end" and not self._registered:
            for transfer in entry.transaction.transfers:
                if transfer.source.startswith(_HOUSE):
                    self._fault(entry, "it pays a level that its play does not play for")
                    break
            return
        hits = [] if play is None else play.hits
        if entry.kind == "game.void":
            moved = _Moves(self.levels)
            for pool, amount in hits:
                if isinstance(amount, int) and pool in self.levels:
                    moved.step(pool, self.levels[pool].give_back(amount))
            self._check_moves(entry, moved)
            recorded = details(entry).get("recorded")
            won = [self._answers.get(a) if isinstance(a, str) else a for _, a in hits]
            if recorded is not None and None not in won and recorded["levels_cents"] != sum(won):  # type: ignore[arg-type]
                self._fault(entry, f"it says that its levels had won {recorded['levels_cents']} cents: {won}")
            return
        due = [(pool, self._answers.get(a) if isinstance(a, str) else a) for pool, a in hits]
        self._check_register(entry, "" if play is None else play.game, due)
        paid = [
            (t.source.removeprefix(_HOUSE), t.amount_cents)
            for t in entry.transfers
            if t.source.startswith(_HOUSE)
        ]
        if due != paid:
            self._fault(entry, f"the levels hit are worth {due}, and {paid} was paid")

    def _register(self, entry: StoredEntry, told: Mapping[str, Any]) -> None:
        """A line of the register of wins: of the open play, or of one that is over and is paid next."""
        play_id, pool = str(told["play_id"]), str(told["pool"])
        play = self._open.get(play_id)
        if play is None:
            self._late[entry.id] = told
            return
        self._registered.setdefault(play_id, []).append(entry)
        if play.pools.get(told["level"]) != pool or play.game not in {"", told["game"]}:
            self._fault(entry, f"{play_id} is no play of {told['game']} that wins {told['level']} of {pool}")

    def _check_register(self, end: StoredEntry, game_id: str, due: list[tuple[str, int | None]]) -> None:
        """The register of wins has each hit of a play, worth what it is paid, and the way it is paid."""
        play_id = str(details(end).get("play_id"))
        way = "hand" if end.phase is Phase.RESERVE else "credit"
        told = self._registered.pop(play_id, [])
        numbers = [f"{play_id}.hit-{number}" for number in range(1, len(due) + 1)]
        if [entry.id for entry in told] != numbers:
            self._fault(end, f"the register of wins has {len(told)} hits of the play, not {len(due)}")
        for entry, (pool, cents) in zip(told, due, strict=False):
            said = details(entry)
            found = said["pool"], said["amount_cents"], said["way"], said["game"]
            if found != (pool, cents, way, game_id or said["game"]):
                self._fault(entry, f"the hit is of {pool}, {cents}, paid by {way}; it says {found}")

    # ------------------------------------------------------------------ what must be the same
    def _check_moves(self, entry: StoredEntry, moved: "_Moves") -> None:
        self._same(entry, tuple(moved.transfers))
        self._check_state(entry, moved.touched)

    def _same(self, entry: StoredEntry, due: tuple[Transfer, ...]) -> None:
        found = [t for t in entry.transfers if t.source.startswith("pool:")]
        if _flows(found) != _flows(due):
            shown = ", ".join(f"{a} -> {b} {cents}" for (a, b), cents in _flows(due).items()) or "nothing"
            self._fault(entry, f"its levels should have moved {shown}")

    def _check_state(self, entry: StoredEntry, pools: Iterable[str]) -> None:
        for pool in pools:
            if entry.state.get(f"level:{pool}") != self.levels[pool].to_json():
                self._fault(entry, f"level {pool} is not kept as its entries make it")


def _into(entry: StoredEntry, account: str) -> int:
    return sum(t.amount_cents for t in entry.transfers if t.target == account)


class _Moves:
    """Steps of levels and the transfers they make, in order."""

    def __init__(self, levels: dict[str, Level]) -> None:
        self._levels = levels
        self.transfers: list[Transfer] = []
        self.touched: list[str] = []

    def step(self, pool: str, after: Level) -> None:
        self.transfers += posting.step(pool, self._levels[pool], after)
        self._levels[pool] = after
        if pool not in self.touched:
            self.touched.append(pool)


def _mystery_hit(pool: str, odds: tuple[int, int] | None, draws: list[Any]) -> bool:
    """Whether a wager hit a mystery level; takes its number from the front of the recorded ones."""
    if odds is None:
        return False
    favourable, bound = odds
    if favourable >= bound:
        return True
    recorded_bound, value, purpose = draws.pop(0) if draws else (0, 0, "")
    if (recorded_bound, purpose) != (bound, f"{MYSTERY}{pool}") or not 0 <= value < bound:
        raise ValueError(f"a number below {bound} for level {pool}, not {value} below {recorded_bound}")
    return bool(value < favourable)


def _flows(transfers: Iterable[Transfer]) -> Counter[tuple[str, str]]:
    flows: Counter[tuple[str, str]] = Counter()
    for t in transfers:
        flows[t.source, t.target] += t.amount_cents
    return flows
