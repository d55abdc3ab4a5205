"""Declaration of the progressive feature: the machine's own levels, those of a controller, and SAS broadcasts."""

from typing import Final

from egm.kernel.entries import list_entries
from egm.kernel.events import State
from egm.kernel.feature import Feature
from egm.kernel.rules import DerivedState
from egm.progressive import entries, game_levels, level_views
from egm.progressive.broadcast import create_broadcast_services
from egm.progressive.enrolment_page import ENROLMENT_FORMS
from egm.progressive.enrolment_page import MENU_ITEMS as LINK_PAGES
from egm.progressive.entries import CertificateInUse
from egm.progressive.events import PAYLOAD_CLASS_BY_EVENT
from egm.progressive.forms import PROGRESSIVE_FORMS
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.progressive.level_changes import LinkProgress
from egm.progressive.levels_page import MENU_ITEMS
from egm.progressive.mqtt import create_progressive_link_service
from egm.progressive.records import BroadcastWin, ClaimRecord, CommittedPrize, HeldPrize
from egm.progressive.rules import PROGRESSIVE_RULES

PROGRESSIVE_FEATURE: Final = Feature(
    name="progressive",
    storage_keys=ProgressiveKey,
    value_types={
        ProgressiveKey.GAME_AWAITING_AWARD: str,
        ProgressiveKey.OWN_LEVEL: Level,
        ProgressiveKey.LINK_PROGRESS: LinkProgress,
        ProgressiveKey.PRIZE_COMMITMENT: CommittedPrize,
        ProgressiveKey.GAME_ENDED_UNDECIDED: str,
        ProgressiveKey.CLAIM: ClaimRecord,
        ProgressiveKey.HELD_PRIZE: HeldPrize,
        ProgressiveKey.LINK_CERTIFICATE: CertificateInUse,
        ProgressiveKey.UNREAD_BROADCAST_WIN: BroadcastWin,
    },
    entry_declarations=list_entries(entries),
    payload_classes=PAYLOAD_CLASS_BY_EVENT,
    rules=PROGRESSIVE_RULES,
    contributions=(*MENU_ITEMS, *LINK_PAGES, *PROGRESSIVE_FORMS, *ENROLMENT_FORMS),
    derived_states=(
        DerivedState(
            State.AWAITING_AWARD,
            lambda machine: machine.memory.get(ProgressiveKey.GAME_AWAITING_AWARD) is not None,
        ),
    ),
    list_notices=game_levels.iter_notices,
    list_metrics=level_views.iter_level_metrics,
    service_factories=(create_broadcast_services, create_progressive_link_service),
)
