"""The money feature: bills, coins and tickets in; tickets, coins and hand-pays out."""

from typing import Final

from egm.kernel.entries import list_entries
from egm.kernel.events import State
from egm.kernel.feature import Feature
from egm.kernel.rules import DerivedState
from egm.money import entries
from egm.money.disputed import DisputedAmount
from egm.money.disputed_page import PAGES
from egm.money.forms import FORMS
from egm.money.rules import RULES
from egm.record_fields import Count
from egm.records.keys import MoneyKey
from egm.records.money import PaperRecord

MONEY: Final = Feature(
    name="money",
    keys=MoneyKey,
    values={
        MoneyKey.PAPER: PaperRecord,
        MoneyKey.COINS: Count,
        MoneyKey.DISPUTED: DisputedAmount,
    },
    entries=list_entries(entries),
    rules=RULES,
    offers=(*PAGES, *FORMS),
    states=(
        DerivedState(State.HANDPAY, lambda machine: machine.memory.get(MoneyKey.HANDPAY) is not None),
        DerivedState(State.PAYING, lambda machine: machine.memory.get(MoneyKey.PAY_OUT) is not None),
    ),
)
