"""Progressive levels page: what each level shows, holds and has paid (I-05)."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from egm.kernel.machine import Machine
from egm.kernel.service_pages import Table, Words
from egm.people import Permission
from egm.progressive.game_levels import mark
from egm.progressive.level import Level
from egm.progressive.level_views import shown
from egm.progressive.pools import Pools
from egm.records.keys import ProgressiveKey
from egm.staff.service.desk import Entry
from egm.staff.service.pages import Listing
from egm.staff.service.words import local, money, number, pairs, plain, say


def level_tables(machine: Machine) -> tuple[Table, ...]:
    """Return one table per level: the machine's own, closed ones too, then those of a controller or host."""
    own = {
        key.removeprefix(ProgressiveKey.LEVEL): Level.from_json(stored)
        for key, stored in sorted(machine.journal.states(ProgressiveKey.LEVEL).items())
    }
    linked = [pool for pool in machine.state(Pools).by_id if pool not in own]
    return (
        *(pairs(_own(level), _title(machine, pool)) for pool, level in own.items()),
        *(pairs(_linked(machine, pool), _title(machine, pool)) for pool in linked),
    )


def _title(machine: Machine, pool: str) -> Words:
    known = machine.state(Pools).by_id.get(pool)
    if known is None:
        return say("service.levels.given_up", level=pool)
    return local({code: f"{name} ({pool})" for code, name in known.definition.names.items()})


def _own(level: Level) -> Iterable[tuple[str | Words, Words]]:
    terms = level.terms
    yield "levels.shows", money(level.shown_cents)
    yield "levels.exact", plain(level.current)
    yield "levels.base", money(terms.base_cents)
    yield "levels.ceiling", plain("-") if terms.ceiling_cents is None else money(terms.ceiling_cents)
    yield "levels.increment", plain(terms.increment)
    yield "levels.hidden_increment", plain(terms.hidden)
    yield "levels.hidden", plain(level.hidden)
    yield "levels.overflow", plain(level.overflow)
    yield "levels.hits", number(level.hits)
    yield "levels.paid", money(level.paid)


def _linked(machine: Machine, pool: str) -> Iterable[tuple[str | Words, Words]]:
    now, made = shown(machine, machine.state(Pools).by_id[pool]), mark(machine, pool)
    yield "levels.shows", money(now.amount_cents)
    yield "levels.status", say(f"service.levels.{now.status.value}")
    yield "levels.contributions", number(made.sequence)
    yield "levels.counted", number(made.counted)


PAGES: Final = (Entry("levels", "games", Permission.READ_METERS, partial(Listing, "levels", level_tables)),)
