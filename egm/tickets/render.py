"""Picture of a ticket, as PNG or PDF: exactly the dots that a thermal head with 203 dots per inch prints."""

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from egm.tickets.barcode import QUIET_ZONE_MODULES, compute_width_modules, encode_barcode_widths
from egm.tickets.errors import InvalidTicket
from egm.tickets.model import TICKET_NUMBER_DIGIT_COUNT, Ticket
from egm.tickets.templates import DOTS_PER_MM, TICKET_HEIGHT_MM, TICKET_WIDTH_MM, TemplateLine, TicketTemplate

#: Dots per inch, exactly eight per millimetre.
RENDER_DOTS_PER_INCH: Final = DOTS_PER_MM * 25.4
#: Folder of the fonts.
_FONTS_FOLDER: Final = Path(__file__).resolve().parents[1] / "screen" / "fonts"
#: Font name in a template -> font file.
_FONT_FILE_BY_NAME: Final = {
    "regular": "Lato-Regular.ttf",
    "bold": "Lato-Bold.ttf",
    "black": "Lato-Black.ttf",
    "narrow": "BebasNeue-Bold.otf",
}
#: The smallest legible text size, in dots.
_TEXT_HEIGHT_DOTS_MIN: Final = 14
#: Values of a black and of a white dot.
_BLACK, _WHITE = 0, 1
#: Alignment in a template -> anchor of Pillow's text drawing.
_ANCHOR_BY_ALIGNMENT: Final = {"left": "lm", "centre": "mm", "right": "rm"}


def draw_ticket(ticket: Ticket, template: TicketTemplate, language: str) -> Image.Image:
    """Draw the ticket as a picture of 1248 x 520 dots, one bit each; the bar code is exact to the dot.

    Raises :class:`InvalidTicket` if the text of a line cannot be made small enough for its space.
    """
    image = Image.new("1", (TICKET_WIDTH_MM * DOTS_PER_MM, TICKET_HEIGHT_MM * DOTS_PER_MM), _WHITE)
    texts = template.build_texts(ticket, language)
    for line in template.lines:
        if texts[line.name]:
            _draw_line(image, line, texts[line.name])
    _draw_bars(image, ticket.number, template)
    return image


def encode_png(image: Image.Image) -> bytes:
    """Return a ticket's picture as a PNG file that states its physical size."""
    return _encode_file(image, "PNG", dpi=(RENDER_DOTS_PER_INCH, RENDER_DOTS_PER_INCH), optimize=True)


def encode_pdf(image: Image.Image) -> bytes:
    """Return a ticket's picture as a PDF page of 156 x 65 mm that preserves every dot (CCITT Group 4)."""
    return _encode_file(image, "PDF", resolution=RENDER_DOTS_PER_INCH, producer="open-egm")


def _encode_file(image: Image.Image, file_format: str, **options: object) -> bytes:
    """Return a picture as a file of the given kind, such as PNG."""
    stream = BytesIO()
    image.save(stream, file_format, **options)
    return stream.getvalue()


def _convert_to_dots(millimetres: float) -> int:
    """Return a length in millimetres as a whole number of printed dots."""
    return round(millimetres * DOTS_PER_MM)


@lru_cache(maxsize=64)
def _load_font(font_name: str, height_dots: int) -> ImageFont.FreeTypeFont:
    """Return the named font at a height of ``height_dots``; cached."""
    return ImageFont.truetype(_FONTS_FOLDER / _FONT_FILE_BY_NAME[font_name], height_dots)


def _fit_font(line: TemplateLine, text: str) -> ImageFont.FreeTypeFont:
    """Return the font for a line of the ticket: at the line's own size, or smaller if the text is too wide.

    Raises InvalidTicket if the text does not fit at any readable size.
    """
    width_dots = _convert_to_dots(line.width_mm)
    for height_dots in range(_convert_to_dots(line.size_mm), _TEXT_HEIGHT_DOTS_MIN - 1, -1):
        font = _load_font(line.font, height_dots)
        if font.getlength(text) <= width_dots:
            return font
    raise InvalidTicket(f"ticket line {line.name}: {text!r} does not fit into {line.width_mm} mm")


def _draw_line(image: Image.Image, line: TemplateLine, text: str) -> None:
    """Draw one line of the ticket's template, turned if the template says so."""
    font = _fit_font(line, text)
    x, y = map(_convert_to_dots, line.at_mm)
    if not line.turn:
        draw = ImageDraw.Draw(image)
        draw.fontmode = "1"
        draw.text((x, y), text, fill=_BLACK, font=font, anchor=_ANCHOR_BY_ALIGNMENT[line.align])
        return
    strip_length, strip_depth = _convert_to_dots(line.width_mm), _convert_to_dots(line.size_mm * 1.5)
    strip = Image.new("1", (strip_length, strip_depth), _WHITE)
    draw = ImageDraw.Draw(strip)
    draw.fontmode = "1"
    anchor_x = {"left": 0, "centre": strip_length // 2, "right": strip_length}[line.align]
    draw.text(
        (anchor_x, strip_depth // 2), text, fill=_BLACK, font=font, anchor=_ANCHOR_BY_ALIGNMENT[line.align]
    )
    turned_strip = strip.rotate(line.turn, expand=True, fillcolor=_WHITE)
    offset = strip_length - anchor_x if line.turn == 90 else anchor_x
    image.paste(turned_strip, (x - strip_depth // 2, y - offset))


def _draw_bars(image: Image.Image, digits: str, template: TicketTemplate) -> None:
    """Draw the ticket's bar code at its position in the template."""
    barcode = template.barcode
    middle_x_mm, top_mm = barcode.at_mm
    left_edge = (
        _convert_to_dots(middle_x_mm)
        - compute_width_modules(TICKET_NUMBER_DIGIT_COUNT) * barcode.module_dots // 2
    )
    top_edge, bottom_edge = _convert_to_dots(top_mm), _convert_to_dots(top_mm + barcode.height_mm) - 1
    draw = ImageDraw.Draw(image)
    x = left_edge + QUIET_ZONE_MODULES * barcode.module_dots
    for index, width_modules in enumerate(encode_barcode_widths(digits)):
        width = width_modules * barcode.module_dots
        if index % 2 == 0:
            draw.rectangle((x, top_edge, x + width - 1, bottom_edge), fill=_BLACK)
        x += width
