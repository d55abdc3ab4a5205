"""Sphinx configuration of the documentation site (``make docs``)."""

project = "Open EGM"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Open EGM"
html_show_copyright = False
html_copy_source = False
#: Headings down to this level can be linked by their text, as on a code host.
myst_heading_anchors = 4
#: State diagrams are shown as text: the site loads no script from elsewhere.
suppress_warnings = ["misc.highlighting_failure"]
