"""The machine's side of a host's money, whatever protocol the host speaks: tickets by its numbers, transfers.

:mod:`~egm.money.host.model` is what the machine knows of its host; ``tickets`` and ``transfers`` are the
effects of the state table; ``ticket_port`` and ``transfer_port`` are what a line's polls call.
"""
