"""The progressive controller: the levels several machines feed, and whoever shows them.

``controller`` decides, on any ``store``; what carries messages, and the sign, are apart. The arithmetic of a
level and the messages are the machine's own (:mod:`egm.progressive.level`, :mod:`egm.progressive.messages`).
"""
