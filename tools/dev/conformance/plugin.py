"""Pytest plugin that writes the ``requirement(...)`` marks of the collected tests to a file.

``pytest --collect-only -p tools.dev.conformance.plugin --requirement-marks FILE`` writes a JSON list of ``{"test":
"tests/x.py::test_y", "slow": false, "rows": ["A-01"]}``, one entry per test function without its parameters.
``library`` lists the rows of its ``library_only(...)`` marks; ``sas`` lists the rows of the SAS tables that its
``sas(...)`` marks name, such as ``polls:0F``. A test that is marked ``skip`` or ``xfail`` shows nothing and is left
out.
"""

import json
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the file to write."""
    parser.addoption("--requirement-marks", type=Path, required=True, help="write the marks to this file")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the marks of every collected test."""
    rows: dict[str, set[str]] = {}
    library: dict[str, set[str]] = {}
    tables: dict[str, set[str]] = {}
    slow: dict[str, bool] = {}
    for item in session.items:
        marked = {str(name) for mark in item.iter_markers("requirement") for name in mark.args}
        apart = {str(name) for mark in item.iter_markers("library_only") for name in mark.args}
        sas = {
            f"{table}:{int(code, 16):02X}"
            for mark in item.iter_markers("sas")
            for table, codes in mark.kwargs.items()
            for code in codes.split()
        }
        if (
            not (marked or apart or sas)
            or item.get_closest_marker("skip")
            or item.get_closest_marker("xfail")
        ):
            continue
        name = item.nodeid.partition("[")[0]
        rows.setdefault(name, set()).update(marked)
        library.setdefault(name, set()).update(apart)
        tables.setdefault(name, set()).update(sas)
        slow[name] = slow.get(name, True) and item.get_closest_marker("slow") is not None
    entries = [
        {
            "test": name,
            "slow": slow[name],
            "rows": sorted(rows[name]),
            "library": sorted(library[name]),
            "sas": sorted(tables[name]),
        }
        for name in sorted(rows)
    ]
    path: Path = session.config.getoption("--requirement-marks")
    path.write_text(json.dumps(entries, indent=1), encoding="utf-8")
