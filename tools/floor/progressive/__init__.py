"""The progressive controller: the levels to which several machines contribute, and their signs.

``controller`` decides, on any ``store``; message transport and the sign are separate. The level arithmetic
and the messages are shared with the machine (:mod:`egm.progressive.level`, :mod:`egm.progressive.messages`).
"""
