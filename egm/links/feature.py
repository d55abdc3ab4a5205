"""Links to systems of the floor: SAS lines, the GAT port of a verifier, and metrics for monitoring."""

from typing import Final

from egm.kernel.feature import Feature
from egm.links.gat.port import gat_port
from egm.links.monitoring import monitoring
from egm.links.sas.attachment import sas_lines
from egm.records.keys import LinksKey

LINKS: Final = Feature(name="links", keys=LinksKey, services=(monitoring, sas_lines, gat_port))
