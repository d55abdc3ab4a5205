"""The machine checks holder and authority of a link's certificates before it starts."""

from datetime import UTC, datetime

import pytest

from egm.app.preflight import iter_preflight_mistakes
from egm.config.cabinet_file import load_cabinet
from egm.config.levels import ProgressiveLinkTable
from tools.floor.progressive.certificates import AUTHORITY_CERTIFICATE_NAME, make_authority, make_certificate

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def mistakes(folder, serial, *, certificate="", key="", authority=""):
    slot = ProgressiveLinkTable(
        authority=authority or folder / f"{AUTHORITY_CERTIFICATE_NAME}.crt",
        certificate=folder / f"{certificate or serial}.crt",
        key=folder / f"{key or certificate or serial}.key",
    )
    demonstration = load_cabinet()
    machine = demonstration.machine.model_copy(update={"serial": serial})
    file = demonstration.model_copy(
        update={"machine": machine, "progressive_link": slot, "games": demonstration.games[:1]}
    )
    return [
        mistake.problem
        for mistake in iter_preflight_mistakes(file)
        if mistake.key.startswith("progressive_link")
    ]


@pytest.mark.requirement("I-15:a", "K-07")
def test_only_the_machines_own_certificate_from_the_links_authority_is_accepted(tmp_path):
    floor, other = tmp_path / "floor", tmp_path / "other"
    for folder in (floor, other):
        folder.mkdir()
        make_authority(folder, NOW)
        for name in ("M-1", "M-2"):
            make_certificate(folder, name, NOW)
    assert mistakes(floor, "M-1") == []
    (fault_text,) = mistakes(floor, "M-1", certificate="M-2")
    assert "is for M-2, but this machine is M-1" in fault_text
    (fault_text,) = mistakes(floor, "M-1", key="M-2")
    assert "certificates" in fault_text
    (fault_text,) = mistakes(floor, "M-1", authority=other / f"{AUTHORITY_CERTIFICATE_NAME}.crt")
    assert "not signed by" in fault_text
    (fault_text,) = mistakes(floor, "M-3")[:1]
    assert "there is no file " in fault_text
