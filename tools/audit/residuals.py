"""The check of residual credit that was played: the result must follow from the recorded draw.

Residual credit is credit that is less than the smallest stake. The player may stake it for a chance of a whole
stake.
"""

from collections.abc import Callable

from egm.play.entries import RESIDUAL_PLAYED, ResidualPlayed
from egm.play.residual_credit import RESIDUAL_DRAW_PURPOSE
from egm.record_codec import RecordError
from meters import StoredEntry
from tools.audit.records import read_record


def check_residual_entry(entry: StoredEntry, report_finding: Callable[[StoredEntry, str], None]) -> None:
    """Check an entry that records residual credit played for a chance of a larger amount.

    ``report_finding`` is called if the win does not follow from the stake and the draw, or if the record cannot be
    read.
    Other entries are ignored.
    """
    if entry.transaction.kind != RESIDUAL_PLAYED.kind:
        return
    try:
        record = read_record(entry, ResidualPlayed)
        ((bound, value, purpose),) = record.draws
    except (RecordError, ValueError) as error:
        report_finding(entry, f"the record of the residual credit cannot be read: {error}")
        return
    amount_cents, prize_cents = record.amount_cents, record.prize_cents
    is_record_valid = (
        0 < amount_cents < prize_cents == bound and 0 <= value < bound and purpose == RESIDUAL_DRAW_PURPOSE
    )
    due_cents = prize_cents if value < amount_cents else 0
    staked_cents = sum(
        transfer.amount_cents for transfer in entry.transfers if transfer.target == "house:residual"
    )
    won_cents = sum(
        transfer.amount_cents for transfer in entry.transfers if transfer.source == "house:residual_win"
    )
    if not is_record_valid:
        report_finding(
            entry,
            f"record: expected 0 < amount_cents < prize_cents and one draw below prize_cents for "
            f"{RESIDUAL_DRAW_PURPOSE}; found "
            f"{amount_cents}, {prize_cents} and {value} below {bound} for {purpose}",
        )
    elif staked_cents != amount_cents:
        report_finding(
            entry, f"transfers stake {staked_cents} cents, expected record.amount_cents, {amount_cents}"
        )
    elif not won_cents == record.won_cents == due_cents:
        report_finding(
            entry,
            f"the draw {value} wins {due_cents} cents, but {won_cents} cents were paid and record.won_cents is "
            f"{record.won_cents}",
        )
