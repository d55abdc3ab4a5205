"""Trace requirements to tests and write the conformance pages.

* :mod:`~tools.dev.conformance.requirements` reads ``tests/conformance/requirements.toml``;
* :mod:`~tools.dev.conformance.evidence` collects from pytest which tests carry which ``requirement(...)`` marks;
* :mod:`~tools.dev.conformance.page` writes ``CONFORMANCE.md`` and one page per group;
* :mod:`tools.dev.mutants` removes the behaviour that a row requires and checks that its tests fail.
"""
