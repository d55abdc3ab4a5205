"""Claims: what a machine owes, item by item, derived from what can be read of its memory.

An authorised memory clear settles each claim or carries it over (:mod:`egm.features.memory_clear.carrying`). The
storage keys declare whether their values are owed (:class:`egm.kernel.keys.ClearAction`); this module interprets the
values. A claim that is carried over has the same reservation, under the same id, and the same state in the new journal,
so the device, host or attendant continues where it was.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

from egm.features.memory_clear.claim_book import (
    PAID_BY_HAND_ACCOUNT,
    ClaimBook,
    ClaimMaker,
    ClearanceClaim,
    encode_transfers,
    format_state_name,
    is_credit_account,
    is_restricted_account,
    parse_position,
)
from egm.features.memory_clear.evidence import MemoryEvidence
from egm.features.memory_clear.records import CLAIM_CARRIED_KIND, CLAIM_ENDED_KIND, CLAIM_PAID_KIND
from egm.host.keys import HostKey
from egm.kernel.feature import Features
from egm.kernel.keys import StorageKey
from egm.money.disputed_amounts import DisputedAmount, UnpostedRuling
from egm.money.keys import MoneyKey
from egm.money.records.host import RegistrationRecord
from egm.money.records.money import (
    CashOutRecord,
    DispensedCoins,
    HandpayEnding,
    HandpayRecord,
    PaperRecord,
    UnclaimedRecord,
)
from egm.play.keys import PlayKey, TableKey
from egm.play.records.game_record import (
    GamePointer,
    GameRecord,
    LevelContribution,
    LevelHitRecord,
    TableRecord,
    is_round_between_players,
)
from egm.play.records.games import PUSH_ACCOUNT
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.progressive.level_changes import LinkProgress
from egm.progressive.records import ClaimRecord, HeldPrize
from egm.record_codec import to_json
from meters import Transaction, Transfer
from meters.chart import AccountBook, find_account
from meters.clear import CARRIED_OVER_ACCOUNT
from meters.ledger import Reservation
from meters.recall import CARRIED_GAME_KIND
from meters.salvage import SalvagedJournal
from meters.transaction import JSON

#: A controller may still report a win for one of the last contributions that it has counted, at most this many back.
#: Their games are therefore carried over.
_REPORTABLE_CONTRIBUTIONS_MAX: Final = 8
#: The accounts of a progressive level in which money is held.
_LEVEL_ACCOUNT_PARTS: Final = ("current", "hidden", "overflow", "won")


def list_claims(
    salvaged_journal: SalvagedJournal[MemoryEvidence], features: Features
) -> tuple[tuple[ClearanceClaim, ...], Transaction | None]:
    """Return everything that one copy of the old memory owes, as claims, and the entry with its remaining state.

    Without remaining state, None is returned for the entry.
    """
    book = ClaimBook(salvaged_journal, features.storage_keys)
    for key, add_claims in list_claim_makers(features).items():
        for name in sorted(n for n in book.old_state if book.keys.find_key(n) is key):
            if name not in book.covered_state_names:
                book.add_claim_for_value(add_claims, name)
    book.claim_unaccounted_reservations()
    book.claim_remaining_credits()
    book.claim_past_transfer_identifiers()
    return tuple(sorted(book.claims, key=lambda claim: claim.id)), book.build_carried_state_entry()


# ---------------------------------------------------------------------------------------------- paper
def _claim_bill_or_ticket(book: ClaimBook, state_name: str) -> None:
    """Add a claim for a bill or ticket that was sent to the cash box and neither credited nor returned."""
    paper = book.read_record(PaperRecord, state_name)
    reservation = book.unclaimed_reservations.pop(paper.id, None)
    if reservation is None:  # it is already credited: only the driver has not finished
        return
    position, claim_id = parse_position(state_name), f"paper:{parse_position(state_name)}"
    state = book.cover_values(state_name)
    payments = [
        Transfer(transfer.target, PAID_BY_HAND_ACCOUNT, transfer.amount_cents)
        for transfer in reservation.transfers
    ]
    is_restricted = any(is_restricted_account(transfer.target) for transfer in reservation.transfers)
    paid_entries = (
        book.build_entry(
            claim_id,
            CLAIM_PAID_KIND,
            id=f"{reservation.id}.in",
            transfers=(*reservation.transfers, *payments),
        ),
    )
    book.add_claim(
        ClearanceClaim(
            claim_id,
            paper.amount_cents,
            {
                "what": "ticket" if paper.masked_ticket_number else "bill",
                "number": paper.masked_ticket_number,
                "position": position,
            },
            carry_entries=book.build_reservation_entries(claim_id, [reservation], state),
            build_paid_entries=None if is_restricted else lambda _: paid_entries,
            end_entries=(book.build_entry(claim_id, CLAIM_ENDED_KIND),),
        )
    )


# ---------------------------------------------------------------------------------------------- payouts
def _claim_cash_out(book: ClaimBook, state_name: str) -> None:
    """Add a claim for credit that was being paid out as a ticket or in coins."""
    cash_out, position = book.read_record(CashOutRecord, state_name), parse_position(state_name)
    reservation = book.unclaimed_reservations.pop(cash_out.id, None)
    if reservation is None:
        return
    claim_id, owed_cents = f"payout:{position}", cash_out.amount_cents
    disputed_amount_name = format_state_name(position, MoneyKey.DISPUTED_AMOUNT) + cash_out.id
    state = book.cover_values(
        state_name,
        format_state_name(position, MoneyKey.PRINT_JOB),
        format_state_name(position, MoneyKey.HOPPER_PAYOUT),
        disputed_amount_name,
    )
    progress = {str(book.keys.find_key(name)): state[name] for name in state if name != state_name}
    credit_transfers = _list_credit_transfers(reservation)
    funding_transfers = book.build_funding_transfers(credit_transfers)
    source, payout_account = credit_transfers[0].source, credit_transfers[0].target
    is_restricted = is_restricted_account(source)

    def build_paid_entries(amount_cents: int) -> tuple[Transaction, ...]:
        """Return the new journal's entries for the payout if staff paid ``amount_cents`` of it by hand.

        The entries record the remainder as already paid by the machine.
        """
        machine_payments = (
            [Transfer(source, payout_account, owed_cents - amount_cents)] if amount_cents < owed_cents else []
        )
        hand_payments = [Transfer(source, PAID_BY_HAND_ACCOUNT, amount_cents)] if amount_cents else []
        return (
            book.build_entry(
                claim_id, CLAIM_PAID_KIND, transfers=(*funding_transfers, *hand_payments, *machine_payments)
            ),
        )

    ending_id = f"{reservation.id}.{'printed' if cash_out.payout_method == 'ticket' else 'paid'}"
    book.add_claim(
        ClearanceClaim(
            claim_id,
            owed_cents,
            {"way": cash_out.payout_method, "position": position, **progress},
            carry_entries=book.build_reservation_entries(claim_id, [reservation], state),
            build_paid_entries=None if is_restricted else build_paid_entries,
            end_entries=(
                book.build_entry(
                    claim_id,
                    CLAIM_ENDED_KIND,
                    id=ending_id,
                    transfers=(*funding_transfers, *credit_transfers),
                ),
            ),
            payment_min_cents=owed_cents if cash_out.payout_method == "ticket" else 0,
        )
    )


def _claim_unposted_coins(book: ClaimBook, state_name: str) -> None:
    """Add a claim for coins that the hopper has paid and that are not deducted from the credit yet."""
    record, position = book.read_record(DispensedCoins, state_name), parse_position(state_name)
    claim_id, credit_account = f"coins_gone:{position}", f"credit:{position}:cashable"
    amount_cents = record.paid_cents
    book.claimed_cents_by_account[credit_account] += amount_cents
    state = book.cover_values(state_name)
    funding_transfers = (Transfer(CARRIED_OVER_ACCOUNT, credit_account, amount_cents),)
    carry_entries = (
        book.build_entry(claim_id, CLAIM_CARRIED_KIND, transfers=funding_transfers, state=state),
    )
    book.add_claim(
        ClearanceClaim(
            claim_id,
            0,
            {"coins": record.paid_coins, "amount_cents": amount_cents},
            carry_entries=carry_entries,
        )
    )


# ---------------------------------------------------------------------------------------------- disputed amounts
def _claim_disputed_amount(book: ClaimBook, state_name: str) -> None:
    """Add a claim for a disputed amount without a ruling. It is carried over and decided on the new machine."""
    disputed_amount, state = book.read_record(DisputedAmount, state_name), book.cover_values(state_name)
    reservation = book.unclaimed_reservations.pop(f"{disputed_amount.id}.disputed", None)
    claim_id = f"disputed:{disputed_amount.id}"
    carry_entries = (
        () if reservation is None else book.build_reservation_entries(claim_id, [reservation], state)
    )
    book.add_claim(
        ClearanceClaim(
            claim_id,
            disputed_amount.amount_max_cents,
            {
                "device": disputed_amount.device,
                "why": disputed_amount.reason,
                "ticket": disputed_amount.masked_ticket_number,
                "least_cents": disputed_amount.amount_min_cents,
            },
            carry_entries=carry_entries or (book.build_entry(claim_id, CLAIM_CARRIED_KIND, state=state),),
        )
    )


def _claim_ruling(book: ClaimBook, state_name: str) -> None:
    """Add a claim for a disputed amount whose ruling is recorded but not posted.

    It is carried over, and then posted from the credit that is reserved for it.
    """
    ruling, position = book.read_record(UnpostedRuling, state_name), parse_position(state_name)
    credit_account, reserved_cents = f"credit:{position}:cashable", ruling.disputed_amount.reserved_cents
    book.claimed_cents_by_account[credit_account] += reserved_cents
    disputed_amount_name = format_state_name(position, MoneyKey.DISPUTED_AMOUNT) + ruling.disputed_amount.id
    state = book.cover_values(state_name, disputed_amount_name)
    claim_id = f"ruling:{position}"
    funding_transfers = (
        (Transfer(CARRIED_OVER_ACCOUNT, credit_account, reserved_cents),) if reserved_cents else ()
    )
    details: dict[str, JSON] = {"id": ruling.disputed_amount.id, "held_cents": reserved_cents}
    book.add_claim(
        ClearanceClaim(
            claim_id,
            ruling.amount_cents,
            details,
            carry_entries=(
                book.build_entry(claim_id, CLAIM_CARRIED_KIND, transfers=funding_transfers, state=state),
            ),
        )
    )


# ---------------------------------------------------------------------------------------------- hand-pays
def _claim_handpay(book: ClaimBook, state_name: str) -> None:
    """Add a claim for money and merchandise prizes that wait to be handed over by an attendant."""
    handpay, position = book.read_record(HandpayRecord, state_name), parse_position(state_name)
    reservation_ids = (handpay.replaced_reservation_id, handpay.id)
    reservations = [
        reservation
        for reservation_id in reservation_ids
        if reservation_id
        and (reservation := book.unclaimed_reservations.pop(reservation_id, None)) is not None
    ]
    claim_id, state = f"handpay:{position}", book.cover_values(state_name)
    prizes = [prize.id for prize in handpay.prizes]
    transfers = reservations[-1].transfers if reservations else ()
    payment_transfers = (*book.build_funding_transfers(transfers), *transfers)
    book.add_claim(
        ClearanceClaim(
            claim_id,
            handpay.amount_cents,
            {"kind": handpay.kind, "position": position, "prizes": prizes},
            carry_entries=book.build_reservation_entries(claim_id, reservations, state),
            build_paid_entries=lambda _: (
                book.build_entry(
                    claim_id,
                    CLAIM_PAID_KIND,
                    id=HandpayEnding.PAID.format_entry_id(handpay.id),
                    transfers=payment_transfers,
                    record={"prizes": prizes},
                ),
            ),
        )
    )


def _claim_orphaned_handpay(book: ClaimBook, state_name: str) -> None:
    """Add a claim for a hand-pay that was being moved into the register of unclaimed money."""
    unclaimed_record = book.read_record(UnclaimedRecord, state_name)
    claim_id = f"unclaimed:{parse_position(state_name)}"
    transfers = unclaimed_record.transfers
    funding_transfers = book.build_funding_transfers(transfers)
    for transfer in funding_transfers:
        book.claimed_cents_by_account[transfer.target] += transfer.amount_cents
    carry_entries = (
        book.build_entry(
            claim_id, CLAIM_CARRIED_KIND, transfers=funding_transfers, state=book.cover_values(state_name)
        ),
    )
    amount_cents = sum(
        transfer.amount_cents
        for transfer in transfers
        if find_account(transfer.source).book is AccountBook.LIVE
    )
    book.add_claim(
        ClearanceClaim(
            claim_id,
            amount_cents,
            {"id": unclaimed_record.id, "flows": encode_transfers(transfers)},
            carry_entries=carry_entries,
        )
    )


# ---------------------------------------------------------------------------------------------- games
def _claim_game(book: ClaimBook, state_name: str) -> None:
    """Add a claim for an open game, which the new machine shows again and ends with the recorded outcome.

    An undecided game in which players win each other's stakes is carried over with the other games of its round. If one
    of these games was declared void, this game's stakes are paid by hand, as those of the void game were.
    """
    position, play_id = parse_position(state_name), book.read_record(GamePointer, state_name).play_id
    game_record = book.evidence.games.get(play_id)
    if game_record is None:
        return  # its start cannot be read: the values stored about the game cause a tilt, and staff decide
    round_steps = book.evidence.steps_by_round_id.get(game_record.round_id, ())
    missing_step_count = (
        len(round_steps) - len(game_record.steps) if game_record.wager.seat is not None else 0
    )
    game_record = replace(game_record, round_steps=round_steps if missing_step_count > 0 else ())
    claim_id, outcome = f"game:{position}", game_record.outcome
    level_claim_by_state_name = {
        level_state_name: level_claim
        for level_state_name, level_claim in _read_open_level_claims(book).items()
        if level_claim.play_id == play_id
    }
    state_names = (
        state_name,
        format_state_name(position, ProgressiveKey.GAME_AWAITING_AWARD),
        format_state_name(position, ProgressiveKey.GAME_ENDED_UNDECIDED),
        *level_claim_by_state_name,
    )
    table_state_name = format_state_name(position, TableKey.TABLE_STATE) + game_record.game_reference.digest
    has_table = (
        outcome is not None and table_state_name in book.old_state
    )  # the outcome decides the standing bets
    state = book.cover_values(*state_names, *([table_state_name] if has_table else []))
    stake_cents = sum(amount_cents for _, amount_cents in game_record.stakes_by_account or ())
    awards = [
        (hit.pool_id, _find_award_cents(hit, level_claim_by_state_name)) for hit in game_record.levels.hits
    ]
    prizes = [] if outcome is None else list(outcome.merchandise)
    win_cents = game_record.win_cents
    returned_cents = (
        0 if game_record.has_returned_stakes else game_record.push_cents
    ) + game_record.standing_bets_cents
    total_cents = win_cents + returned_cents + sum(amount_cents or 0 for _, amount_cents in awards)
    is_award_pending = outcome is not None and any(amount_cents is None for _, amount_cents in awards)
    hand_payments: list[Transfer] = []
    if outcome is None:
        hand_payments = [Transfer("house:refund_defect", PAID_BY_HAND_ACCOUNT, stake_cents)]
    elif not is_award_pending and not prizes:
        hand_payments = (
            [Transfer("house:attendant_jackpot", "out:handpay_jackpot", win_cents)] if win_cents else []
        )
        hand_payments += (
            [Transfer(PUSH_ACCOUNT, PAID_BY_HAND_ACCOUNT, returned_cents)] if returned_cents else []
        )
        hand_payments += [
            Transfer(f"house:progressive:{pool_id}", "out:handpay_progressive", amount_cents)
            for pool_id, amount_cents in awards
            if amount_cents
        ]
    is_void = game_record.round_id in book.evidence.void_round_ids
    must_be_carried = (
        outcome is None and is_round_between_players((*game_record.steps, *round_steps)) and not is_void
    )
    payment_method = "hand" if outcome is not None else "void"
    closed_claim_by_state_name = {
        level_state_name: to_json(replace(level_claim, payment_method=payment_method))
        for level_state_name, level_claim in level_claim_by_state_name.items()
    }
    paid_entries = (
        _build_game_entry(book, claim_id, play_id, replace(game_record, end_entry_kind=CLAIM_PAID_KIND), {}),
        book.build_entry(
            claim_id, CLAIM_PAID_KIND, transfers=tuple(hand_payments), state=closed_claim_by_state_name
        ),
    )
    has_linked_contribution = any(
        contribution.contribution_number is not None for contribution in game_record.levels.contributions
    )
    ended_game_record = replace(game_record, end_entry_kind=CLAIM_ENDED_KIND)
    book.add_claim(
        ClearanceClaim(
            claim_id,
            stake_cents if outcome is None else total_cents,
            {
                "play_id": play_id,
                "position": position,
                "game": game_record.game_reference.id,
                "decided": outcome is not None,
                "staked_cents": stake_cents,
                "prizes": prizes,
                "awaited": is_award_pending,
                "steps_behind_round": max(missing_step_count, 0),
            },
            carry_entries=()
            if is_void
            else (_build_game_entry(book, claim_id, play_id, game_record, state),),
            build_paid_entries=(lambda _: paid_entries) if hand_payments and not must_be_carried else None,
            # The game's contribution must still be sent: until then, the controller counts no later contribution.
            fallback_end_entries=(_build_game_entry(book, claim_id, play_id, ended_game_record, {}),)
            if has_linked_contribution
            else (),
        )
    )


def _claim_table(book: ClaimBook, state_name: str) -> None:
    """Add a claim for a table between two games and the bets that stand on it."""
    table, state = book.read_record(TableRecord, state_name), book.cover_values(state_name)
    claim_id, amount_cents = state_name, table.standing_bets_cents
    paid_entries = (
        (
            book.build_entry(
                claim_id,
                CLAIM_PAID_KIND,
                transfers=(Transfer(PUSH_ACCOUNT, PAID_BY_HAND_ACCOUNT, amount_cents),),
            ),
        )
        if amount_cents
        else ()
    )
    book.add_claim(
        ClearanceClaim(
            claim_id,
            amount_cents,
            {"game": table.game_reference.id, "position": parse_position(state_name)},
            carry_entries=(book.build_entry(claim_id, CLAIM_CARRIED_KIND, state=state),),
            build_paid_entries=(lambda _: paid_entries) if amount_cents else None,
            end_entries=None if amount_cents else (book.build_entry(claim_id, CLAIM_ENDED_KIND),),
        )
    )


def _build_game_entry(
    book: ClaimBook, claim_id: str, play_id: str, game_record: GameRecord, state: Mapping[str, JSON]
) -> Transaction:
    """Return the new journal's entry that carries over a game with its record, for the claim ``claim_id``."""
    start_id = f"{play_id}.start"
    dims = book.evidence.dimensions_by_play_id.get(play_id, {})
    return book.build_entry(
        claim_id,
        CLAIM_CARRIED_KIND,
        id=start_id,
        entry_kind=CARRIED_GAME_KIND,
        dims=dims,
        state=state,
        record=to_json(game_record),
    )


def _read_open_level_claims(book: ClaimBook) -> dict[str, ClaimRecord]:
    """Return the linked levels' hits that their controller has not confirmed, by the name of the stored value."""
    return {
        state_name: book.read_record(ClaimRecord, state_name)
        for state_name in book.old_state
        if book.keys.find_key(state_name) is ProgressiveKey.CLAIM
    }


def _find_award_cents(
    hit: LevelHitRecord, level_claim_by_state_name: Mapping[str, ClaimRecord]
) -> int | None:
    """Return the amount of a progressive hit in minor units, or None if it is not known yet.

    If ``level_claim_by_state_name`` contains the award of the level's controller, that is the amount; otherwise it is
    the recorded amount.
    """
    record = level_claim_by_state_name.get(f"{ProgressiveKey.CLAIM}{hit.claim_id}")
    return hit.amount_cents if record is None else record.amount_cents


# ---------------------------------------------------------------------------------------------- levels
def _claim_level(book: ClaimBook, state_name: str) -> None:
    """Add a claim for the value of a stand-alone progressive level. It is carried over exactly, as a fraction."""
    pool_id = state_name.removeprefix(ProgressiveKey.OWN_LEVEL)
    state = book.cover_values(state_name)
    level = book.read_record(Level, state_name)
    amounts = {
        "current": level.current_amount,
        "hidden": level.hidden_amount,
        "overflow": level.overflow_amount,
    }
    transfers = tuple(
        Transfer(f"pool:{pool_id}:carried", f"pool:{pool_id}:{account_part}", amount_cents)
        for account_part in _LEVEL_ACCOUNT_PARTS
        if (amount_cents := book.old_ledger.balance_cents(f"pool:{pool_id}:{account_part}")) > 0
    )
    details = {account_part: str(amount) for account_part, amount in amounts.items()}
    record = {"pool": pool_id, "opened": book.evidence.level_opening_by_pool_id.get(pool_id)}
    book.add_claim(
        ClearanceClaim(
            state_name,
            sum(amounts.values()),
            details,
            carry_entries=(
                book.build_entry(
                    state_name, CLAIM_CARRIED_KIND, transfers=transfers, state=state, record=record
                ),
            ),
        )
    )


def _claim_uncounted_contributions(book: ClaimBook, state_name: str) -> None:
    """Add a claim for contributions to a linked progressive level that its controller has not counted yet.

    The claim also carries over the games of these contributions, and the games of the last counted contributions,
    because these may still win the level.
    """
    pool_id = state_name.removeprefix(ProgressiveKey.LINK_PROGRESS)
    link = book.read_record(LinkProgress, state_name)
    book.cover_values(state_name)
    contributions_by_play_id = {
        play_id: contributions
        for play_id, game_record in book.evidence.games.items()
        if (
            contributions := [
                contribution
                for contribution in game_record.levels.contributions
                if _is_uncounted(
                    contribution, pool_id, link.last_counted_number - _REPORTABLE_CONTRIBUTIONS_MAX
                )
            ]
        )
    }
    open_game_names = (name for name in book.old_state if book.keys.find_key(name) is PlayKey.GAME)
    open_play_ids = {book.read_record(GamePointer, name).play_id for name in open_game_names}
    # The new journal numbers its entries from the beginning.
    link_state = to_json(replace(link, uncounted_since_sequence=0))
    carry_entries = [
        _build_game_entry(book, "games", play_id, book.evidence.games[play_id], {})
        for play_id in contributions_by_play_id
        if play_id not in open_play_ids
    ]
    uncounted_contributions = [
        contribution
        for contributions in contributions_by_play_id.values()
        for contribution in contributions
        if _is_uncounted(contribution, pool_id, link.last_counted_number)
    ]
    amount = sum(
        (contribution.amount or Fraction(0) for contribution in uncounted_contributions), Fraction(0)
    )
    details = {
        "sequence": link.contribution_number,
        "counted": link.last_counted_number,
        "uncounted": len(uncounted_contributions),
    }
    book.add_claim(
        ClearanceClaim(
            state_name,
            amount,
            details,
            carry_entries=(
                *carry_entries,
                book.build_entry(state_name, CLAIM_CARRIED_KIND, state={state_name: link_state}),
            ),
        )
    )


def _is_uncounted(contribution: LevelContribution, pool_id: str, last_counted_number: int) -> bool:
    """Return whether a contribution belongs to ``pool_id`` and has a higher number than ``last_counted_number``.

    The accounts of a pool hold the money of one progressive level.
    """
    return (
        contribution.pool_id == pool_id
        and contribution.contribution_number is not None
        and contribution.contribution_number > last_counted_number
    )


def _claim_linked_hit(book: ClaimBook, state_name: str) -> None:
    """Add a claim for a linked progressive level that an ended game has won and its controller has not confirmed."""
    state = book.cover_values(state_name)
    level_claim = book.read_record(ClaimRecord, state_name)
    details = {
        "pool": level_claim.pool_id,
        "way": level_claim.payment_method,
        "amount_cents": level_claim.amount_cents,
    }
    book.add_claim(
        ClearanceClaim(
            state_name,
            0,
            details,
            carry_entries=(book.build_entry(state_name, CLAIM_CARRIED_KIND, state=state),),
        )
    )


def _claim_held_prize(book: ClaimBook, state_name: str) -> None:
    """Add a claim for a progressive prize that is withheld because it cannot be proved.

    It is carried over together with its game.
    """
    state = book.cover_values(state_name)
    held_prize = book.read_record(HeldPrize, state_name)
    game_record = book.evidence.games.get(held_prize.play_id)
    is_ended = game_record is not None and bool(game_record.end_entry_kind)
    game_entries = (
        (_build_game_entry(book, "games", held_prize.play_id, game_record, {}),)
        if game_record is not None and is_ended
        else ()
    )
    details = {"pool": held_prize.pool_id, "why": held_prize.reason, "ruling": held_prize.ruling}
    carry_entries = (*game_entries, book.build_entry(state_name, CLAIM_CARRIED_KIND, state=state))
    book.add_claim(ClearanceClaim(state_name, held_prize.amount_cents, details, carry_entries=carry_entries))


def _claim_host_registration(book: ClaimBook, state_name: str) -> None:
    """Add a claim for the machine's registration for host transfers, so that it is carried over."""
    state = book.cover_values(state_name)
    book.add_claim(
        ClearanceClaim(
            state_name,
            0,
            {"pos_id": book.read_record(RegistrationRecord, state_name).pos_id},
            carry_entries=(book.build_entry(state_name, CLAIM_CARRIED_KIND, state=state),),
            end_entries=(book.build_entry(state_name, CLAIM_ENDED_KIND),),
        )
    )


def list_claim_makers(features: Features) -> Mapping[StorageKey, Callable[[ClaimBook, str], None]]:
    """Return the function that adds the claims for the values of each storage key with the clear action OWED.

    The keys of added features are included.
    """
    return {
        **CLAIM_MAKER_BY_KEY,
        **{maker.key: maker.add_claims for maker in features.list_contributions(ClaimMaker)},
    }


#: The function that adds the claims for the values of each storage key, in the order in which the keys are processed.
#: The claim for a game includes its unconfirmed progressive hits, so games come before hits.
CLAIM_MAKER_BY_KEY: Final[Mapping[StorageKey, Callable[[ClaimBook, str], None]]] = {
    MoneyKey.PAPER_BEING_STACKED: _claim_bill_or_ticket,
    MoneyKey.PAY_OUT: _claim_cash_out,
    MoneyKey.UNPOSTED_COINS: _claim_unposted_coins,
    MoneyKey.DISPUTED_AMOUNT_RULING: _claim_ruling,
    MoneyKey.DISPUTED_AMOUNT: _claim_disputed_amount,
    MoneyKey.HANDPAY: _claim_handpay,
    MoneyKey.UNCLAIMED_HANDPAY: _claim_orphaned_handpay,
    PlayKey.GAME: _claim_game,
    TableKey.TABLE_STATE: _claim_table,
    ProgressiveKey.OWN_LEVEL: _claim_level,
    ProgressiveKey.LINK_PROGRESS: _claim_uncounted_contributions,
    ProgressiveKey.CLAIM: _claim_linked_hit,
    ProgressiveKey.HELD_PRIZE: _claim_held_prize,
    HostKey.REGISTRATION: _claim_host_registration,
}
#: Keys whose value belongs to the claim of another key; None for the terms of restricted credit.
CLAIM_KEY_BY_DEPENDENT_KEY: Final[Mapping[StorageKey, StorageKey | None]] = {
    MoneyKey.PRINT_JOB: MoneyKey.PAY_OUT,
    MoneyKey.HOPPER_PAYOUT: MoneyKey.PAY_OUT,
    ProgressiveKey.GAME_AWAITING_AWARD: PlayKey.GAME,
    ProgressiveKey.GAME_ENDED_UNDECIDED: PlayKey.GAME,
    MoneyKey.RESTRICTED_CREDIT_TERMS: None,
}


def _list_credit_transfers(reservation: Reservation) -> tuple[Transfer, ...]:
    """Return the transfers of a reservation that take a player's credit.

    Transfers of the stock of coins are left out, because a memory clear does not carry the stock over.
    """
    return tuple(transfer for transfer in reservation.transfers if is_credit_account(transfer.source))
