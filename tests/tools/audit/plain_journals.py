"""Journals of plain games, and the two ways in which the audit checks them."""

import json
import random
from types import FunctionType, MethodType

import tools.audit.verify
from egm.kernel.events import EventType
from egm.play.records.games import GameInProgress
from egm.testing.machine import ScriptedGenerator, ScriptedStep
from meters.entry import StoredEntry
from meters.machine_key import MachineKey
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

SHELF = GameFiles()
KEY = MachineKey(bytes(range(32)))
REEL, TABLE, CARDS, RAISED = "maple-classic", "quebec-roulette-french", "jacks-or-better-9-6", "quebec-war"
SHOE = "quebec-baccarat"
GAMES = (REEL, TABLE, CARDS, RAISED, SHOE)
BETS = {TABLE: {"red": 5}, RAISED: {"main": 2}, SHOE: {"player": 10}}


class SeededChance(ScriptedGenerator):
    """Draws from a fixed seed, so that every run of a test audits the same games."""

    def __init__(self, seed):
        super().__init__()
        self._random = random.Random(seed)

    def step(self):
        return _SeededStep(self._random)


class _SeededStep(ScriptedStep):
    def __init__(self, generator):
        super().__init__([])
        self._random = generator

    def below(self, bound, purpose=""):
        self._values.append(self._random.randrange(bound))
        return super().below(bound, purpose)


def play(rig, game, times):
    """Play games; answer each decision with its last option, which adds to the stake if any option does."""
    rig.engine.handle(EventType.SELECT_GAME, value=game)
    if bets := BETS.get(game):
        rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
    for _ in range(times):
        rig.play()
        while (decision := rig.machine.component(GameInProgress).stepped_game.decision) is not None:
            rig.engine.handle(EventType.CHOOSE, value=decision.options[-1])
        rig.report_shown()


def list_games(bodies, game):
    """Return the entries of each game of a definition, as ranges of their indexes."""
    starts = [
        n for n, body in enumerate(bodies) if b'"game.start"' in body and b'"%b"' % game.encode() in body
    ]
    return [
        range(n, next(m for m in range(n, len(bodies)) if b'"kind":"game.end"' in bodies[m]) + 1)
        for n in starts
    ]


def audit(bodies, jobs=1):
    """Return the report of an audit as text, without the time it took, and the auditor."""
    auditor = Auditor(SHELF)
    report = auditor.audit_entries(bodies, jobs=jobs).to_json()
    report["seconds"] = 0
    return json.dumps(report), auditor


def audit_entry_by_entry(bodies, monkeypatch):
    """Return the report and the auditor of an audit that checks every entry by itself."""
    with monkeypatch.context() as patched:
        patched.setattr(tools.audit.verify, "find_plain_runs", lambda bodies, *_: [(list(bodies), [])])
        return audit(bodies)


def list_entries_checked_one_by_one(bodies, monkeypatch):
    """Return the entries that an audit does not check as part of plain games."""
    checked, check_body = [], Auditor.check_body
    with monkeypatch.context() as patched:
        patched.setattr(
            Auditor, "check_body", lambda auditor, body: (checked.append(body), check_body(auditor, body))
        )
        audit(bodies)
    return checked


def flatten_state(value):
    """Return everything that an auditor knows as plain data, without its caches and its given rules."""
    if isinstance(value, StoredEntry):
        return value.body
    if isinstance(value, dict):
        return {repr(flatten_state(key)): flatten_state(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [flatten_state(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(repr(flatten_state(item)) for item in value)
    if isinstance(value, FunctionType | MethodType | GameFiles) or not type(value).__module__.startswith(
        ("tools.audit", "meters", "egm")
    ):
        return repr(value) if not isinstance(value, FunctionType | MethodType | GameFiles) else None
    names = getattr(value, "__dict__", None) or getattr(type(value), "__slots__", ())
    left_out = {"keys", "rules", "cached_machine_states", "duration_seconds"}
    return {name: flatten_state(getattr(value, name)) for name in names if name not in left_out}
