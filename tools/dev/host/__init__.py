"""Implement a SAS host from the protocol tables, independently of the machine's side.

The simulation and the power-cut tests connect it to a machine in memory, the end-to-end tests over serial lines. Only
the checksum and the tables of names are shared with the machine's side (:mod:`egm.links.sas`). The layouts of requests
and replies, the sequence of messages and the ledger of money belong to this package alone, so that agreement between
the two sides is evidence.
"""
