"""Links to systems of the floor: SAS lines, the GAT port of a verifier, and metrics for monitoring."""

from typing import Final

from egm.kernel.entries import list_entries
from egm.kernel.feature import Feature
from egm.links import entries
from egm.links.gat.port import create_gat_port
from egm.links.keys import LinksKey
from egm.links.monitoring import create_metrics_service
from egm.links.sas.line_service import create_sas_line_services
from egm.record_fields import IsoTime

LINKS_FEATURE: Final = Feature(
    name="links",
    storage_keys=LinksKey,
    value_types={
        LinksKey.LAST_GAT_CALCULATION: entries.GatCalculation,
        LinksKey.HOST_STOPPED_POLLING_AT: IsoTime,
        LinksKey.HAS_AWAITED_HOST_START: bool,
        LinksKey.HOST_CLOCK_AHEAD_SECONDS: int,
    },
    entry_declarations=list_entries(entries),
    service_factories=(create_metrics_service, create_sas_line_services, create_gat_port),
)
