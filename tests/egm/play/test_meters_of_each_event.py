"""Each act at the machine changes certain meters by certain amounts, and no others.

The expected amounts follow from the definitions of the meters (Monaco's order, art. 19.4; New Jersey 1.28C;
Mississippi 8-3), not from the machine's table: credits played, credits paid by the machine, credits paid by hand, and
money in and out.
"""

import pytest

from egm.kernel.events import Event, EventType, State
from egm.money.events import PaperNotAccepted
from egm.testing.machine import MachineRig, ScriptedGenerator
from meters import Phase
from paytables import load_game

#: Reels of maple-classic: three lanterns pay 500 for each credit bet, these maples 10, these nothing.
LANTERNS, MAPLES, LOSS = (11, 11, 12), (23, 7, 5), (0, 0, 0)


class Counted:
    """A machine, and the changes of its meters since the last query."""

    def __init__(self, folder, *numbers, **options):
        self.room = MachineRig(folder, generator=ScriptedGenerator(*numbers), **options).boot()
        self._last = dict(self.room.journal.meters().values)

    def moved(self):
        now = dict(self.room.journal.meters().values)
        found = {
            name: now[name] - self._last.get(name, 0) for name in now if now[name] != self._last.get(name, 0)
        }
        self._last = now
        return {name: amount for name, amount in found.items() if ".since_" not in name}

    def play(self, bet=3):
        self.room.engine.handle(EventType.SELECT_DENOMINATION, value=100)
        self.room.engine.handle(EventType.SELECT_BET, value=bet)
        self.room.play()
        return self.moved()


def build_stake_movements(cents):
    """Return the meter changes of a bet of cashable credits."""
    return {
        "coin_in": cents,
        "coin_in.cashable": cents,
        "credits": -cents,
        "credits.cashable": -cents,
        "games_played": 1,
    }


@pytest.mark.requirement("D-01", "D-02", "D-03", "D-09", "D-10")
def test_bills_bets_wins_and_what_is_paid_by_hand_each_move_their_meters_and_no_other(tmp_path):
    machine = Counted(tmp_path, *LOSS, *MAPLES, *LANTERNS)
    rig = machine.room
    machine.moved()
    rig.insert(10000)
    assert machine.moved() == {
        "bill_in.value": 10000,
        "bill_in.count": 1,
        "bills_accepted": 1,
        "money_in": 10000,
        "drop_total": 10000,
        "credits": 10000,
        "credits.cashable": 10000,
    }
    assert machine.play() == build_stake_movements(300)
    rig.report_shown()
    assert machine.moved() == {"games_lost": 1}
    assert machine.play() == build_stake_movements(300)
    rig.report_shown()
    won = machine.moved()
    paid = won["coin_out"]
    assert paid > 0
    assert won == {"coin_out": paid, "credits": paid, "credits.cashable": paid, "games_won": 1}
    assert machine.play() == build_stake_movements(300)
    rig.report_shown()
    assert rig.state is State.HANDPAY
    assert machine.moved() == {"games_won": 1}  # nothing is paid before the attendant pays it
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert machine.moved() == {
        "att_jackpot": 150000,
        "hand_paid": 150000,
        "money_out": 150000,
        "handpays.jackpot": 1,
    }
    credit_cents = rig.credit_cents
    assert credit_cents == 10000 - 900 + paid
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert machine.moved() == {
        "att_cancel_credit": credit_cents,
        "hand_paid": credit_cents,
        "money_out": credit_cents,
        "handpays.cancelled_credit": 1,
        "credits": -credit_cents,
        "credits.cashable": -credit_cents,
    }
    rig.close()


@pytest.mark.requirement("D-02", "D-01", "D-03", "D-04", "D-11:c", "D-13", "D-14", "P-08")
def test_a_coin_and_a_ticket_taken_move_their_meters_and_the_drop_and_no_other(tmp_path):
    machine = Counted(tmp_path, 4711, devices=("printer", "hopper"))  # the number of the ticket
    rig = machine.room
    rig.device_ledgers.coin_ledger.credit_coins_in(((25, True), (100, False)), 1)
    assert machine.moved() == {
        "phys_coin_in": 125,
        "coins_accepted": 2,
        "coin_drop": 100,
        "hopper_level": 25,
        "money_in": 125,
        "drop_total": 100,
        "credits": 125,
        "credits.cashable": 125,
    }
    number = rig.cash_out_ticket()
    assert machine.moved() == {
        "ticket_out.cashable.value": 125,
        "ticket_out.cashable.count": 1,
        "money_out": 125,
        "credits": -125,
        "credits.cashable": -125,
    }
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    assert machine.moved() == {
        "ticket_in.cashable.value": 125,
        "ticket_in.cashable.count": 1,
        "vouchers_accepted": 1,
        "money_in": 125,
        "drop_total": 125,
        "credits": 125,
        "credits.cashable": 125,
    }
    rig.close()


@pytest.mark.requirement("D-09", "D-02")
def test_a_tilt_a_door_and_a_refused_bet_move_no_meter_of_money(tmp_path):
    machine = Counted(tmp_path, *LOSS)
    machine.room.insert(1000)
    machine.moved()
    machine.room.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat", detail="")
    machine.room.engine.handle(EventType.DOOR_OPENED, door="main", unattended=False)
    machine.room.engine.handle(EventType.DOOR_CLOSED, door="main", unattended=False)
    machine.room.engine.handle(EventType.SELECT_BET, value=99)
    assert {name for name in machine.moved() if not name.startswith(("door", "fault."))} == set()
    machine.room.close()


@pytest.mark.requirement("D-15")
def test_money_its_meters_and_its_state_change_are_in_one_entry(tmp_path):
    """A power cut between two entries would leave a credit uncounted, or credit a coin twice."""
    numbers = ScriptedGenerator(*MAPLES, 4711)  # of the game, and of the ticket
    rig = MachineRig(tmp_path, generator=numbers, devices=("printer", "hopper")).boot()

    def list_moving_entries(act, *arguments):
        """Return the entries by which an act moves credit: kind, counts, and the keys of the state they write."""
        before = rig.journal.sequence
        act(*arguments)
        return [
            (entry.kind, dict(entry.counts), {key.partition(":")[0] for key in entry.state})
            for entry in rig.journal.entries(after_sequence=before)
            if entry.phase is Phase.SETTLE or (entry.phase is Phase.POST and entry.transfers)
        ]

    def take_ticket(number):
        rig.offer_ticket(number)
        rig.escrow_ledger.credit_stacked_paper()

    assert list_moving_entries(rig.insert, 10000) == [("bill.in", {"bills_accepted": 1}, {"paper"})]
    credit_coins = rig.device_ledgers.coin_ledger.credit_coins_in
    assert list_moving_entries(credit_coins, ((25, True), (25, False)), 1) == [
        ("coin.in", {"coins_accepted": 2}, {"coins"})
    ]
    assert list_moving_entries(rig.play) == [("game.start", {"games_played": 1}, {"definition", "game"})]
    assert list_moving_entries(rig.report_shown) == [("game.end", {"games_won": 1}, {"game", "last_game"})]
    number = []
    assert list_moving_entries(lambda: number.append(rig.cash_out_ticket())) == [
        ("voucher.out", {}, {"print", "tickets", "pay_out"})
    ]
    assert list_moving_entries(take_ticket, *number) == [
        ("voucher.in", {"vouchers_accepted": 1}, {"tickets", "paper"})
    ]
    rig.close()


@pytest.mark.requirement("D-01", "D-02", "D-10")
def test_a_returned_stake_is_a_pushed_game(tmp_path):
    """In red dog a two and a three are in sequence, so that the ante is returned."""
    decks = load_game("quebec-red-dog").rules.definition.shoe.deck_count
    machine = Counted(tmp_path, 0, 4 * decks, games=("quebec-red-dog",))
    rig = machine.room
    rig.insert(10000)
    machine.moved()
    least = rig.machine.games["quebec-red-dog"].bet_options[0]
    rig.engine.handle(EventType.SELECT_BET, value=least)
    rig.play()
    staked_cents = machine.moved()["coin_in"]
    rig.report_shown()
    assert machine.moved() == {
        "coin_out": staked_cents,
        "push": staked_cents,
        "credits": staked_cents,
        "credits.cashable": staked_cents,
        "games_pushed": 1,
    }
    rig.close()


@pytest.mark.requirement("D-02", "D-11:c")
def test_rejected_and_returned_notes_are_counted_by_their_result(tmp_path):
    machine = Counted(tmp_path, 4711, devices=("printer",))  # the number of the ticket
    rig = machine.room
    rig.insert(500)
    number = rig.cash_out_ticket()
    machine.moved()
    rig.offer(2000)
    rig.escrow_ledger.void_unstacked_paper("pulled back")
    assert machine.moved() == {"bills_not_stacked": 1}
    rig.offer_ticket(number)
    rig.escrow_ledger.void_unstacked_paper("pulled back")
    assert machine.moved() == {"vouchers_not_stacked": 1}
    rig.offer_ticket("123456789012345678")
    assert machine.moved() == {"vouchers_refused": 1}
    for event_type, is_ticket, meter in (
        (EventType.BILL_REJECTED, False, "bills_rejected"),
        (EventType.BILL_RETURNED, False, "bills_returned"),
        (EventType.BILL_RETURNED, True, "vouchers_returned"),
    ):
        rig.submit_event(Event(event_type, PaperNotAccepted(reason="unreadable", is_ticket=is_ticket)))
        assert machine.moved() == {meter: 1}
    rig.close()
