"""The service menu: what the staff see and do at the machine.

:mod:`~egm.staff.service.effects` opens, answers and closes it by the state table; a page is a place of
:mod:`~egm.staff.service.desk`; what each may be asked to fill in stands in :mod:`egm.staff.forms`.
"""
