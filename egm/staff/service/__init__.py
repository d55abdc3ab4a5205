"""The service menu: what staff see and do at the machine.

:mod:`~egm.staff.service.effects` has the effects of its events. A page is a menu page as in
:mod:`~egm.staff.desk`; the forms are in :mod:`egm.staff.forms`.
"""
