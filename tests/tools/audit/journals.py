"""Journals for audit tests: games recorded as a machine records them, and edits that a forger could make."""

import json
import random
from datetime import UTC, datetime, timedelta

from meters import Journal, JournalPolicy, Phase, Transaction, Transfer
from meters.entry import decode, encode_canonical_json
from paytables import RecordingDrawSource, load_game, play_through

CREDIT = "credit:1:cashable"


class Chance:
    """Draws from a fixed seed; these tests check the audit of games, not their randomness."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def below(self, bound, purpose):
        return self._random.randrange(bound)


def clock():
    time = datetime(2026, 5, 1, tzinfo=UTC)
    while True:
        time += timedelta(seconds=3)
        yield time


def insert(journal, amount_cents):
    """Append the entries of an accepted bill: reserved, stacked, credited and confirmed."""
    sequence = journal.sequence + 1
    paper = {
        "id": f"bill-{sequence}",
        "amount_cents": amount_cents,
        "ticket": "",
        "phase": "ordered",
        "mark": 0,
    }
    journal.append(
        Transaction(
            id=paper["id"],
            kind="bill.escrow",
            phase=Phase.RESERVE,
            transfers=(Transfer("world:bill", CREDIT, amount_cents, {"bill_cents": amount_cents}),),
            state={"paper": paper},
        )
    )
    journal.append(
        Transaction(
            id=f"{paper['id']}.in",
            kind="bill.in",
            phase=Phase.SETTLE,
            ref=paper["id"],
            counts={"bills_accepted": 1},
            state={"paper": paper | {"phase": "vended"}},
            record={"amount_cents": amount_cents},
        )
    )
    journal.append(
        Transaction(id=journal.fresh_id("bill.confirmed"), kind="bill.confirmed", state={"paper": None})
    )


def request_ticket(journal):
    """Start a cash-out of all credit by ticket, without ending it."""
    amount_cents, cashout = journal.available_cents(CREDIT), f"cashout-{journal.sequence + 1}"
    ticket = {"kind": "cashable", "pool": 0, "amount_cents": amount_cents, "number": "••••1234"}
    journal.append(
        Transaction(
            id=cashout,
            kind="voucher.request",
            phase=Phase.RESERVE,
            transfers=(Transfer(CREDIT, "out:voucher:cashable", amount_cents),),
            state={
                "pay_out": {"id": cashout, "way": "ticket", "language": "en", **ticket},
                "cash_out_goes_on": None,
            },
        )
    )


def append_game(journal, game, number, denomination_cents=5):
    """Append the start and the end of a game."""
    bet = game.bet_options[0]
    wager = game.build_wager(bet)
    draw = RecordingDrawSource(Chance(number))
    outcome = play_through(game, wager, draw)
    dims = {
        "game": game.id,
        "paytable": f"{game.id}@{game.version}",
        "denomination_cents": denomination_cents,
        "wager_level": bet,
    }
    play_id = journal.fresh_id("play")
    journal.append(
        Transaction(
            id=f"{play_id}.start",
            kind="game.start",
            transfers=(Transfer(CREDIT, "house:wager", bet * denomination_cents),),
            dims=dims,
            counts={"games_played": 1},
            state={"game": {"play_id": play_id}},
            record={
                "play_id": play_id,
                "game": {"id": game.id, "version": game.version, "digest": game.digest},
                "denomination_cents": denomination_cents,
                "bet_credits": bet,
                "wager": wager.to_json(),
                "language": "en",
                "credit_before_cents": journal.available_cents(CREDIT),
                "steps": [{"choice": None, "draws": [list(r) for r in draw.records]}],
                "outcome": outcome.to_json(),
            },
        )
    )
    win_cents = outcome.returned_credits * denomination_cents
    journal.append(
        Transaction(
            id=f"{play_id}.end",
            kind="game.end",
            transfers=(Transfer("house:win", CREDIT, win_cents),) if win_cents else (),
            dims=dims,
            counts={"games_won" if win_cents else "games_lost": 1},
            state={"game": None, "last_game": {"play_id": play_id, "win_cents": win_cents}},
            record={"play_id": play_id, "win_cents": win_cents},
        )
    )


def make_state(folder, *, cashes_out=True):
    """Write the memory of a machine after sixty games and a clean end; optionally with a cash-out in progress."""
    ticks = clock()
    game = load_game("maple-classic")
    with Journal.open(
        folder, now=lambda: next(ticks), policy=JournalPolicy(entries_per_checkpoint=25)
    ) as journal:
        insert(journal, 10000)
        for number in range(60):
            append_game(journal, game, number)
        if cashes_out:
            request_ticket(journal)
    return folder


def rechain(bodies):
    """Return edited entries with all hashes and sequences computed again, as a forger without the key could."""
    previous = "0" * 64
    for sequence, body in enumerate(bodies, 1):
        raw = json.loads(body) | {"sequence": sequence, "previous": previous}
        entry = decode(encode_canonical_json(raw))
        previous = entry.hash_hex
        yield entry.body


def edit(bodies, index, change):
    raw = json.loads(bodies[index])
    change(raw)
    return [*bodies[:index], encode_canonical_json(raw), *bodies[index + 1 :]]


def find(bodies, kind, skip=3):
    return [n for n, body in enumerate(bodies) if json.loads(body)["kind"] == kind][skip]
