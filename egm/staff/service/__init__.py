"""The service menu: what staff see and do at the machine.

:mod:`~egm.staff.service.effects` opens, answers and closes it by the state table; a page is a menu page of
:mod:`~egm.staff.desk`; the forms are in :mod:`egm.staff.forms`.
"""
