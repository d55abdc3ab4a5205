"""Progressives: levels that grow with each wager (Québec by-law, s.91), the link to a controller, broadcasts.

``level`` is the arithmetic of one amount, shared by machine, controller and audit; ``posting`` expresses its
whole units as transfers. ``pools`` has the levels that the games play for, from the games' definitions and
the cabinet file; ``level_changes`` is the effect of one game on them. The levels of a controller are reached over
``link``, a state machine of messages with a ``feeder`` per level; ``link_service`` connects it to the journal,
and a ``carrier`` (``mqtt``) to the network. ``broadcast`` receives the levels of a SAS host.
"""
