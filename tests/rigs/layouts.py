"""Layouts that every picture of a game is held against."""

from egm.screen.layout import LANDSCAPE, PHONE, PORTRAIT, slim

LAYOUTS = {"landscape": LANDSCAPE, "portrait": PORTRAIT, "phone": PHONE, "short phone": slim(390, 700)}
