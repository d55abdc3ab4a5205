"""Requirement to test: the numbered requirements, the tests that show them, and the page that says so.

* :mod:`~tools.conformance.requirements` reads ``tests/conformance/requirements.toml``;
* :mod:`~tools.conformance.evidence` asks pytest which tests carry which ``requirement(...)`` marks;
* :mod:`~tools.conformance.page` writes ``CONFORMANCE.md`` and a page a group; ``make conformance`` runs it;
* :mod:`tools.mutants` takes what a row asks for away, and asks its tests whether they notice.
"""
