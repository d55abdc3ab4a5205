"""Layouts that every picture of a game is held against."""

from egm.screen.layout import LANDSCAPE, PHONE, PORTRAIT, build_telephone_layout

LAYOUTS = {
    "landscape": LANDSCAPE,
    "portrait": PORTRAIT,
    "phone": PHONE,
    "short phone": build_telephone_layout(390, 700),
}
