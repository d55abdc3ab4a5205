"""Storage keys of money: payouts, hand-pays, disputed amounts, and bills and tickets being stacked."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class MoneyKey(StorageKey):
    """Storage keys of money: payouts, hand-pays, disputed amounts, and bills and tickets being stacked."""

    PAY_OUT = "pay_out", ClearAction.OWED, KeyOwner.POSITION
    """The payout in progress: credits that are being paid out on a ticket or in coins."""
    PRINT_JOB = "print", ClearAction.OWED, KeyOwner.POSITION
    """The progress of the ticket, slip or test page being printed."""
    HOPPER_PAYOUT = "hopper", ClearAction.OWED, KeyOwner.POSITION
    """The progress of the payout in coins."""
    LAST_COIN_EVENT = "coins", ClearAction.KEEP, KeyOwner.POSITION
    """The coin acceptor's last recorded event, in the encoding of its driver."""
    UNPOSTED_COINS = "coins_gone", ClearAction.OWED, KeyOwner.POSITION
    """The coins that left the hopper in a voided payout, until they are posted."""
    DISPUTED_AMOUNT = "disputed:", ClearAction.OWED, KeyOwner.POSITION
    """Key prefix of the disputed amounts that have no ruling yet: one key per amount, which ends with its id."""
    DISPUTED_AMOUNT_RULING = "ruling", ClearAction.OWED, KeyOwner.POSITION
    """A ruling on a disputed amount, until its payment is posted."""
    HANDPAY = "handpay", ClearAction.OWED, KeyOwner.POSITION
    """The hand-pay that waits for an attendant."""
    LAST_SLIP_NUMBER = "slip", ClearAction.KEEP, KeyOwner.MACHINE
    """The number of the last hand-pay slip."""
    UNCLAIMED_HANDPAY = "unclaimed", ClearAction.OWED, KeyOwner.POSITION
    """A voided hand-pay, until its amount is posted to the register of unclaimed money."""
    CASH_OUT_REMAINDER = "cash_out_goes_on", ClearAction.KEEP, KeyOwner.POSITION
    """The unpaid remainder of a cash-out, which the next payout method pays; ``true`` in older journals."""
    PAPER_BEING_STACKED = "paper", ClearAction.OWED, KeyOwner.POSITION
    """The bill or ticket being stacked."""
    RESTRICTED_CREDIT_TERMS = "restricted", ClearAction.OWED, KeyOwner.POSITION
    """Expiry date and pool of the restricted credit on the meter."""
    TICKET_LEDGER_ANCHOR = "tickets", ClearAction.TRANSIENT, KeyOwner.MACHINE
    """The ticket ledger's last action on a ticket that the journal knows of, by which a lost ledger is detected."""
    TICKET_TERMS = "ticket_terms", ClearAction.KEEP, KeyOwner.MACHINE
    """What the host has set for tickets, such as validity and printed venue (:mod:`egm.money.ticket_terms`)."""
