"""Remove each behaviour that a regulation requires, one at a time, and check that its tests fail.

The change that removes a behaviour is listed with its requirement in ``tests/conformance/requirements.toml``.

* :mod:`~tools.dev.mutants.change` changes a function by an operator, a key, or a text;
* :mod:`~tools.dev.mutants.scratch` is a copy of the checkout in which one change at a time is made;
* :mod:`~tools.dev.mutants.trial` runs the tests of one row against one change and returns the verdict;
* ``python -m tools.dev.mutants`` (``make mutants``) tries them all, and counts the rows.
"""
