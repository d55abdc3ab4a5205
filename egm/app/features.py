"""The list of the features of this machine, and the staff menu and registers that these features declare.

A new feature is added by putting its declaration into the tuple in this module.
"""

from typing import Final

from egm.app.machine_rules import MACHINE_RULES_FEATURE
from egm.errors import check_invariant
from egm.features.closing.feature import CLOSING_FEATURE
from egm.features.memory_clear.claims import CLAIM_KEY_BY_DEPENDENT_KEY, list_claim_makers
from egm.features.tournament.feature import TOURNAMENT_FEATURE
from egm.host.feature import HOST_FEATURE
from egm.integrity.feature import INTEGRITY_FEATURE
from egm.kernel.feature import Features
from egm.kernel.keys import ClearAction
from egm.kernel.rules import RefusalHandling
from egm.links.feature import LINKS_FEATURE
from egm.money.feature import MONEY_FEATURE
from egm.money.value_in import no_ticket_query_waits
from egm.play.feature import PLAY_FEATURE
from egm.play.standing_bet_rules import TABLES_FEATURE
from egm.progressive.feature import PROGRESSIVE_FEATURE
from egm.seats.feature import SEATS_FEATURE
from egm.staff.desk import MenuItem
from egm.staff.feature import STAFF_FEATURE, build_device_tests_feature
from egm.staff.form import Form
from egm.staff.registers import Register
from egm.staff.service.menu import ServiceMenu

#: Every feature of the machine, in the order in which their rules are tried. Device tests come before
#: normal operation, a failed random number generator before a service call, an award before a host's order,
#: standing bets before any payout, a host before the machine's own payouts, a closed table before any bet, a
#: game with points before one with credits.
FEATURES: Final = Features(
    (
        build_device_tests_feature(no_ticket_query_waits),
        INTEGRITY_FEATURE,
        STAFF_FEATURE,
        PROGRESSIVE_FEATURE,
        TABLES_FEATURE,
        HOST_FEATURE,
        MONEY_FEATURE,
        CLOSING_FEATURE,
        TOURNAMENT_FEATURE,
        SEATS_FEATURE,
        PLAY_FEATURE,
        LINKS_FEATURE,
        MACHINE_RULES_FEATURE,
    )
)


def list_staff_registers(features: Features) -> dict[str, Register]:
    """Return the staff registers that the features declare, by name; a register lists certain journal entries.

    Raises InvariantError if two have the same name.
    """
    registers = sorted(features.list_contributions(Register), key=lambda register: register.name)
    names = [register.name for register in registers]
    check_invariant(len(set(names)) == len(names), f"two registers have the same name: {names}")
    return dict(zip(names, registers, strict=True))


def build_menu(features: Features) -> ServiceMenu:
    """Return the staff's main menu.

    Raises InvariantError if the state table can refuse a form's event without reporting the refusal to the screen.
    """
    state_table = features.state_table
    menu = ServiceMenu(
        menu_items=features.list_contributions(MenuItem),
        forms=features.list_contributions(Form),
        rules=state_table,
        entry_declarations=features.entry_declarations,
    )
    for form in menu.forms:
        is_refusal_reported = state_table.find_refusal(form.event) is RefusalHandling.REPORT
        check_invariant(
            is_refusal_reported or state_table.is_always_accepted(form.event),
            f"form {form.id}: a refusal of {form.event} must be reported to the screen",
        )
    return menu


def check_claims_cover_owed_values(features: Features) -> None:
    """Check that an authorised memory clear accounts for every stored amount that is owed to a player.

    At a memory clear, each amount owed becomes a claim: a record that it is to be paid or carried over to the
    new journal. Raises InvariantError for a storage key that can hold an owed amount but has no function that
    creates the claim.
    """
    claim_maker_by_key = list_claim_makers(features)
    for key in features.storage_keys:
        if key.clear_action is not ClearAction.OWED:
            continue
        is_claimed = key in claim_maker_by_key or key in CLAIM_KEY_BY_DEPENDENT_KEY
        check_invariant(
            is_claimed,
            f"the key {str(key)!r} stores an owed amount, but no feature "
            "makes a claim of it at a memory clear",
        )


#: The staff's main menu, from the forms of all features.
SERVICE_MENU: Final = build_menu(FEATURES)
#: The staff registers of all features, by name.
STAFF_REGISTERS: Final = list_staff_registers(FEATURES)
check_claims_cover_owed_values(FEATURES)
