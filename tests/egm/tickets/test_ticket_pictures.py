"""Tickets as pictures: the bar code is read by zbar, every line is in its place, and the paper has its true size."""

import itertools
from io import BytesIO

import pytest
from PIL import Image, ImageChops
from rigs.ticket_office import HOUSE, make_ticket

from egm.tickets.errors import InvalidTicket
from egm.tickets.model import TicketKind, Venue
from egm.tickets.numbers import create_secure_enhanced_number, create_stand_alone_number
from egm.tickets.render import _draw_bars, _draw_line, draw_ticket, encode_pdf, encode_png
from egm.tickets.templates import list_template_ids, load_template

PLACES = list_template_ids()
SIZE = (1248, 520)
#: Long words, wide figures, the house's longest names.
WORST = Venue(
    site="Le Grand Casino des Hautes-Laurentides",
    address="12345, boulevard de la Seigneurie-du-Triton Ouest, Saint-Chrysostome-de-Beauharnois (Québec)",
    licence_holder="9876-5432 Québec inc. (Taverne Le Rendez-vous des Patriotes), licence 70-123456",
    time_zone="America/Montreal",
)


@pytest.fixture(scope="module")
def zbar():
    """An independent reader of bar codes: the zbar library, through pyzbar."""
    try:
        from pyzbar import pyzbar
    except ImportError as error:
        pytest.skip(f"the zbar library is absent (Debian: libzbar0): {error}")

    def read(image):
        found = pyzbar.decode(image.convert("L"), symbols=[pyzbar.ZBarSymbol.I25])
        return [symbol.data.decode() for symbol in found]

    return read


def numbers():
    draws = itertools.count(7, 123_456_789_013)
    yield from ("000000000000000000", "999999999999999999", "012345678901234567")
    yield from (create_secure_enhanced_number(0xABCDEF, n) for n in range(1, 8))
    yield from (create_stand_alone_number(kind, lambda bound: next(draws) % bound) for kind in TicketKind)


@pytest.mark.requirement("H-02")
@pytest.mark.parametrize("jurisdiction", PLACES)
def test_zbar_reads_the_number_from_the_picture(zbar, jurisdiction):
    template = load_template(jurisdiction)
    for number in numbers():
        assert zbar(draw_ticket(make_ticket(number=number), template, "fr")) == [number]


@pytest.mark.requirement("H-02")
@pytest.mark.parametrize("jurisdiction", PLACES)
def test_zbar_reads_the_number_from_the_png_and_the_pdf(zbar, jurisdiction):
    import pypdfium2

    ticket = make_ticket(is_duplicate=True)
    picture = draw_ticket(ticket, load_template(jurisdiction), "en")
    opened = Image.open(BytesIO(encode_png(picture)))
    assert ImageChops.difference(opened.convert("L"), picture.convert("L")).getbbox() is None
    assert opened.info["dpi"] == pytest.approx((203.2, 203.2), abs=0.1)
    assert zbar(opened) == [ticket.number]
    document = pypdfium2.PdfDocument(encode_pdf(picture))
    assert len(document) == 1
    width, height = document[0].get_size()
    assert (width / 72 * 25.4, height / 72 * 25.4) == pytest.approx((156, 65), abs=0.1)
    page = document[0].render(scale=203.2 / 72, grayscale=True).to_pil()
    assert zbar(page) == [ticket.number]
    document.close()


def test_a_reader_that_sees_the_ticket_turned_reads_the_same(zbar):
    ticket = make_ticket()
    picture = draw_ticket(ticket, load_template("generic"), "en").convert("L")
    for degrees in (90, 180, 270):
        assert zbar(picture.rotate(degrees, expand=True)) == [ticket.number]


def test_a_damaged_bar_code_is_not_read_as_another_number(zbar):
    """With a bar missing, the reader finds nothing or the ticket's own digits."""
    ticket = make_ticket()
    for x in range(300, 940, 20):
        picture = draw_ticket(ticket, load_template("generic"), "en")
        picture.paste(1, (x, 0, x + 9, 300))
        assert set(zbar(picture)) <= {ticket.number}


def iter_ink_boxes(template, ticket, language):
    """Yield the box of ink of each line and of the bar code, each drawn alone by the renderer."""
    texts = template.build_texts(ticket, language)
    for line in template.lines:
        if texts[line.name]:
            alone = Image.new("1", SIZE, 1)
            _draw_line(alone, line, texts[line.name])
            yield line.name, ImageChops.invert(alone.convert("L")).getbbox()
    alone = Image.new("1", SIZE, 1)
    _draw_bars(alone, ticket.number, template)
    left, top, right, bottom = ImageChops.invert(alone.convert("L")).getbbox()
    quiet = 10 * template.barcode.module_dots
    yield "bar code with its quiet zones", (left - quiet, top, right + quiet, bottom)


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.requirement("H-02")
@pytest.mark.parametrize("jurisdiction", PLACES)
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("house", [HOUSE, WORST], ids=["short", "long"])
def test_no_line_touches_another_or_leaves_the_paper(jurisdiction, language, house):
    template = load_template(jurisdiction)
    for kind, amount in itertools.product(TicketKind, (1, 299_999, 199_797)):
        ticket = make_ticket(
            kind=kind,
            amount_cents=amount,
            venue=house,
            is_duplicate=True,
            sequence=999_999,
            denomination_cents=1,
            currency="EUR" if jurisdiction == "monaco" else "CAD",
            machine_serial="EGM-0000000000000001",
        )
        boxes = dict(iter_ink_boxes(template, ticket, language))
        for name, (left, top, right, bottom) in boxes.items():
            assert left >= 8, name
            assert top >= 8, name
            assert right <= 1248 - 8, name
            assert bottom <= 520 - 8, name
        for (name_a, a), (name_b, b) in itertools.combinations(boxes.items(), 2):
            assert not overlap(a, b), f"{name_a} {a} touches {name_b} {b}: {kind}, {amount}"


def test_a_text_too_long_for_its_line_is_refused_not_cut():
    endless = Venue(site="x" * 300)
    with pytest.raises(InvalidTicket, match=r"ticket line site: .* does not fit into 120\.0 mm"):
        draw_ticket(make_ticket(venue=endless), load_template("generic"), "en")


def test_the_same_ticket_is_the_same_picture():
    first, second = (draw_ticket(make_ticket(), load_template("monaco"), "fr") for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert first.size == SIZE
    assert first.mode == "1"
