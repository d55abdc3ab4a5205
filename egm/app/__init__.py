"""The machine: its state table, the life of a game, value in and out, lock-ups, and the process that runs it.

:mod:`~egm.kernel.states` is the table of what may happen; :mod:`~egm.kernel.engine` lets it happen;
the effects it names stand in ``play``, ``value_in``, ``pay_out`` and ``lockups``, and act on a
:class:`~egm.kernel.machine.Machine`, which holds the journal, the chance and the ports.
"""
