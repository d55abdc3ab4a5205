"""Progressives: prizes that grow at a pre-established rate with each wager (Québec by-law, s.91).

``level`` is the arithmetic of one amount, shared by machine, controller and audit; ``posting`` is its whole
units as transfers. ``slots`` is what a cabinet file says, ``pools`` what the games play for by it, ``round``
what one game does to it. A controller keeps an amount over ``link``, a state machine of messages with a
``feeder`` for each level; ``attachment`` ties it to the journal, and a ``carrier`` (``mqtt``) takes it out of
the house. A SAS host keeps one by ``broadcast``.
"""
