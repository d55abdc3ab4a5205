"""Money functions that a host system controls, for any protocol: ticket numbers and redemptions, electronic transfers.

:mod:`egm.money.host_money` holds the machine's record of its host. ``tickets`` and ``transfers`` contain the effects of
the state table's rules. ``ticket_interface`` and ``transfer_interface`` are the interfaces that a protocol's polls
call.
"""
