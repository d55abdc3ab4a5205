"""Money functions that a host system controls, for any protocol: tickets with host numbers, and transfers.

:mod:`egm.money.host_money` is the machine's view of its host. ``tickets`` and ``transfers`` contain the
effects of the state table's rules. ``ticket_port`` and ``transfer_port`` are the interfaces that a protocol's
polls call.
"""
