"""The progressive controller: the levels to which several machines contribute, and their signs.

Module ``controller`` makes all decisions, with any ``store``; message transport and signs are separate. The
level arithmetic and the messages are shared with the machine (:mod:`egm.progressive.level`,
:mod:`egm.progressive.messages`).
"""
