"""Creation of the machine's ticket desk from its profile, its identity and the host that validates its tickets."""

from collections.abc import Callable

from egm.clock import Clock
from egm.config.cabinet_file import TicketValidator
from egm.kernel.machine import MachineIdentity
from egm.kernel.timekeeping import Timekeeper
from egm.money.host_money import HOST_TICKET_RING_SIZE
from egm.profiles import Profile
from egm.tickets.desk import (
    TicketDesk,
    TicketIssuer,
    TicketRules,
    build_stand_alone_numbering,
    create_enrolled_number,
)
from egm.tickets.numbers import is_host_number, is_stand_alone_number
from egm.tickets.record import TicketRecord
from egm.tickets.store import TicketStore
from rng import OutOfService, RandomService


def create_ticket_desk(
    store: TicketStore,
    identity: MachineIdentity,
    profile: Profile,
    clock: Clock,
    timekeeper: Timekeeper,
    find_random_service: Callable[[], RandomService | None],
    validator: TicketValidator = TicketValidator.STAND_ALONE,
    *,
    is_known_to_journal: Callable[[TicketRecord], bool],
) -> TicketDesk:
    """Create the machine's ticket desk, which issues and redeems tickets in the ledger ``store``.

    On a machine without a host, ticket numbers are random. With a host, the machine creates its own numbers from the
    host's enrolment, and no ticket is issued while too many are unread by the host (H-09). The limit is the number of
    tickets that the machine stores for the host. In system validation, a ticket that the machine numbers itself has
    another limit: the one of the profile. ``is_known_to_journal`` returns whether the journal confirms a ticket that
    the ledger lists as issued by this machine.
    """
    is_stand_alone = validator is TicketValidator.STAND_ALONE
    unread_tickets_max = None if is_stand_alone else HOST_TICKET_RING_SIZE

    def draw_below(bound: int) -> int:
        """Return a random number below a bound, for a ticket number."""
        random_service = find_random_service()
        if random_service is None:
            raise OutOfService(
                "a ticket number was requested, but the random number generator is not started"
            )
        with random_service.step() as step:
            return step.below(bound, "validation number")

    return TicketDesk(
        store,
        TicketIssuer(
            serial=identity.serial,
            operator_number=identity.operator_number,
            venue=identity.venue,
        ),
        TicketRules(
            currency=profile.currency,
            template=profile.id,
            limit_cents=profile.tickets.ticket_max_cents,
            valid_days=profile.tickets.validity_days,
            unread_max_before_own_number=(
                profile.host.offline_ticket_count_max
                if validator is TicketValidator.SYSTEM
                else unread_tickets_max
            ),
            unread_max_before_host_number=unread_tickets_max,
        ),
        clock,
        create_number=build_stand_alone_numbering(draw_below) if is_stand_alone else create_enrolled_number,
        is_ticket_number=is_stand_alone_number if is_stand_alone else is_host_number,
        is_clock_trusted=lambda: timekeeper.is_clock_trusted,
        is_known_to_journal=is_known_to_journal,
    )
