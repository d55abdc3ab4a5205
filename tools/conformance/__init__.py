"""Requirement to test: the numbered requirements, the tests that show them, and the page that says so.

* :mod:`~tools.conformance.requirements` reads ``tests/conformance/requirements.toml``;
* :mod:`~tools.conformance.evidence` asks pytest which tests carry which ``requirement(...)`` marks;
* :mod:`~tools.conformance.page` writes ``CONFORMANCE.md`` from both; ``make conformance`` runs it.
"""
