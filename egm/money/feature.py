"""Declaration of the money feature: bills, coins and tickets in; tickets, coins and hand-pays out."""

from typing import Final

from egm.devices.ledgers import PayoutRecord
from egm.kernel.entries import list_entries
from egm.kernel.events import State
from egm.kernel.feature import Feature
from egm.kernel.rules import DerivedState
from egm.money import entries
from egm.money.disputed_amounts import DisputedAmount, UnpostedRuling
from egm.money.disputed_amounts_page import MENU_ITEMS
from egm.money.events import PAYLOAD_CLASS_BY_EVENT
from egm.money.forms import MONEY_FORMS
from egm.money.keys import MoneyKey
from egm.money.records.host import RestrictedTerms
from egm.money.records.money import (
    CashOutRecord,
    DispensedCoins,
    HandpayRecord,
    PaperRecord,
    PrintingRecord,
    UnclaimedRecord,
)
from egm.money.registers import MONEY_REGISTERS
from egm.money.rules import MONEY_RULES
from egm.money.ticket_terms import HostTicketTerms
from egm.record_fields import Count
from egm.tickets.ledger_comparison import LedgerAnchor

MONEY_FEATURE: Final = Feature(
    name="money",
    storage_keys=MoneyKey,
    value_types={  # not CASH_OUT_REMAINDER: earlier versions stored true instead of a record
        MoneyKey.PAY_OUT: CashOutRecord,
        MoneyKey.PRINT_JOB: PrintingRecord,
        MoneyKey.HOPPER_PAYOUT: PayoutRecord,
        MoneyKey.LAST_COIN_EVENT: Count,
        MoneyKey.UNPOSTED_COINS: DispensedCoins,
        MoneyKey.DISPUTED_AMOUNT: DisputedAmount,
        MoneyKey.DISPUTED_AMOUNT_RULING: UnpostedRuling,
        MoneyKey.HANDPAY: HandpayRecord,
        MoneyKey.LAST_SLIP_NUMBER: Count,
        MoneyKey.UNCLAIMED_HANDPAY: UnclaimedRecord,
        MoneyKey.PAPER_BEING_STACKED: PaperRecord,
        MoneyKey.RESTRICTED_CREDIT_TERMS: RestrictedTerms,
        MoneyKey.TICKET_LEDGER_ANCHOR: LedgerAnchor,
        MoneyKey.TICKET_TERMS: HostTicketTerms,
    },
    entry_declarations=list_entries(entries),
    payload_classes=PAYLOAD_CLASS_BY_EVENT,
    rules=MONEY_RULES,
    contributions=(*MENU_ITEMS, *MONEY_FORMS, *MONEY_REGISTERS),
    derived_states=(
        DerivedState(State.HANDPAY, lambda machine: machine.memory.get(MoneyKey.HANDPAY) is not None),
        DerivedState(State.PAYING, lambda machine: machine.memory.get(MoneyKey.PAY_OUT) is not None),
    ),
)
