"""Requirement to test: the numbered requirements, the tests that show them, and the page that says so.

* :mod:`~tools.dev.conformance.requirements` reads ``tests/conformance/requirements.toml``;
* :mod:`~tools.dev.conformance.evidence` asks pytest which tests carry which ``requirement(...)`` marks;
* :mod:`~tools.dev.conformance.page` writes ``CONFORMANCE.md`` and a page a group;
* :mod:`tools.dev.mutants` takes what a row asks for away, and asks its tests whether they notice.
"""
