"""The entry kinds, meters and files that docs/g2s.md names exist."""

import re
from pathlib import Path

from meters.table import METER_BY_NAME, OCCURRENCE_METERS
from tools.audit.rules import RULES_BY_KIND

ROOT = Path(__file__).parents[3]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs/g2s.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith(("| class", "| ---"))
]


def find_code_spans(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_every_entry_kind_meter_and_file_on_the_g2s_page_exists():
    assert len(ROWS) > 12
    for name, _, here, kinds, meters in ROWS:
        assert [kind for kind in find_code_spans(kinds) if kind not in RULES_BY_KIND] == [], name
        assert [
            meter
            for meter in find_code_spans(meters)
            if meter not in METER_BY_NAME and meter not in OCCURRENCE_METERS
        ] == [], name
        paths = [text for text in find_code_spans(here) if "/" in text and " " not in text]
        assert [path for path in paths if not (ROOT / path).exists()] == [], name
