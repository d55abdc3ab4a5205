"""Does a test notice? Each behaviour a regulation asks for is taken away in turn, and its tests must fail.

The change that takes a behaviour away stands beside its requirement, in
``tests/conformance/requirements.toml``.

* :mod:`~tools.dev.mutants.change` makes the change: of a function by an operator, of a key, or of a text;
* :mod:`~tools.dev.mutants.scratch` is a copy of the checkout in which one change at a time is made;
* :mod:`~tools.dev.mutants.trial` runs the tests of one row against one change and says what became of it;
* ``python -m tools.dev.mutants`` (``make mutants``) tries them all, and counts the rows.
"""
