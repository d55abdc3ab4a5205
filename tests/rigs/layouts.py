"""Layouts that every picture of a game is held against."""

from egm.screen.layout import LANDSCAPE, PORTRAIT, build_telephone_layout

#: The page of a usual telephone.
PHONE = build_telephone_layout(390, 844)

LAYOUTS = {
    "landscape": LANDSCAPE,
    "portrait": PORTRAIT,
    "phone": PHONE,
    "short phone": build_telephone_layout(390, 700),
}
