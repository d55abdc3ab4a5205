"""Progressives: levels that grow with each wager (Québec by-law, s.91), the link to a controller, broadcasts.

``level`` is the arithmetic of one amount, shared by machine, controller and audit; ``posting`` expresses its
whole units as transfers. ``slots`` is the cabinet file's part, ``pools`` the levels that the games play for
accordingly, ``round`` the effect of one game on them. A controller manages a level over ``link``, a state
machine of messages with a ``feeder`` per level; ``attachment`` connects it to the journal, and a ``carrier``
(``mqtt``) to the network. A SAS host manages one by ``broadcast``.
"""
