"""The layouts in which the picture of every game is tested."""

from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, build_telephone_layout

#: The page of a typical telephone.
PHONE = build_telephone_layout(390, 844)

LAYOUTS = {
    "landscape": LANDSCAPE_LAYOUT,
    "portrait": PORTRAIT_LAYOUT,
    "phone": PHONE,
    "short phone": build_telephone_layout(390, 700),
}
