"""Shipped templates print every field that the law requires; a template that lacks one is refused with the reason."""

import re
import tomllib

import pytest
from rigs.ticket_office import HOUSE, make_ticket

from egm.devices.ithaca import codec as ithaca
from egm.devices.tcl import codec as tcl
from egm.tickets.errors import InvalidTicket
from egm.tickets.model import TicketKind, Venue
from egm.tickets.templates import MANDATORY_FIELDS_BY_CLASS, TicketClass, list_template_ids, load_template
from egm.tickets.templates.template import _TEMPLATES_FOLDER, TICKET_FIELDS

PLACES = list_template_ids()


def test_a_template_exists_for_each_documented_jurisdiction():
    assert PLACES == ("generic", "monaco", "quebec-casino", "quebec-vlt")
    with pytest.raises(InvalidTicket, match=r"no ticket template 'nevada'; there are: generic, monaco"):
        load_template("nevada")


@pytest.mark.requirement("H-02", "H-10")
@pytest.mark.parametrize("jurisdiction", PLACES)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_ticket_states_every_required_field(jurisdiction, language):
    """The values that a regulation requires are searched in the printed texts."""
    template = load_template(jurisdiction)
    ticket = make_ticket(
        amount_cents=123_456, is_duplicate=True, currency="EUR" if jurisdiction == "monaco" else "CAD"
    )
    printed = template.build_texts(ticket, language)
    everything = "\n".join(printed.values()).replace("\N{NO-BREAK SPACE}", " ")
    date = "01/03/2026" if jurisdiction == "monaco" else "2026-03-01"
    last = "31/03/2026" if jurisdiction == "monaco" else "2026-03-31"
    expected = ["Maison du Jeu", "EGM-0000001", date, "09:05:09", last, "0417"]
    expected += [template.duplicate[language], template.kinds[TicketKind.CASHABLE][language]]
    unit = "euros" if jurisdiction == "monaco" else "dollars"
    expected.append(f"Mille deux cent trente-quatre {unit}" if language == "fr" else f"thirty-four {unit}")
    for text in expected:
        assert text in everything
    assert re.search(r"1 234,56|1,234\.56", everything)
    assert everything.count("91-1234-5678-9012-3456") == 2


@pytest.mark.requirement("H-03")
def test_the_coupon_of_quebecs_video_lotteries():
    """S-13.1 r.7 s.9, compared field by field."""
    printed = load_template("quebec-vlt").build_texts(make_ticket(amount_cents=100_000), "fr")
    everything = "\n".join(printed.values()).replace("\N{NO-BREAK SPACE}", " ")
    assert "LOTERIE VIDÉO / VIDEO LOTTERY" in everything  # the scheme's name
    assert "Maison du Jeu – Licence 70-1234" in everything  # the licence holder
    assert "EGM-0000001" in everything  # the machine's serial number
    assert "2026-03-01   09:05:09" in everything  # date and time
    assert "1 000,00 $ / $1,000.00" in everything  # the value in dollars
    assert "CONTRÔLE / CONTROL  91-1234-5678-9012-3456" in everything  # the control number
    assert "CRÉDITS / CREDITS : 4000" in everything  # the reimbursable credits


def test_every_template_has_its_languages():
    bilingual, single = load_template("quebec-casino"), load_template("generic")
    ticket = make_ticket()
    assert bilingual.build_texts(ticket, "fr") == bilingual.build_texts(ticket, "en")
    assert single.build_texts(ticket, "fr")["kind"] == "COUPON ENCAISSABLE"
    assert single.build_texts(ticket, "en")["kind"] == "CASH-OUT TICKET"
    assert single.build_texts(ticket, "de") == single.build_texts(ticket, "en")


@pytest.mark.requirement("H-10")
def test_a_ticket_without_a_limit_of_time_says_so():
    assert (
        load_template("generic")
        .build_texts(make_ticket(expires_at=None), "fr")["expires"]
        .endswith("sans limite")
    )


@pytest.mark.requirement("H-07")
@pytest.mark.parametrize("jurisdiction", PLACES)
def test_only_a_duplicate_says_duplicate(jurisdiction):
    template = load_template(jurisdiction)
    assert template.build_texts(make_ticket(), "fr")["duplicate"] == ""
    assert "DUPLICATA" in template.build_texts(make_ticket(is_duplicate=True), "fr")["duplicate"]


@pytest.mark.requirement("H-02")
@pytest.mark.parametrize("jurisdiction", PLACES)
@pytest.mark.parametrize("kind", TicketKind)
def test_every_printer_can_print_every_field_every_time(jurisdiction, kind):
    """Tested with the real codecs: TCL supports Latin-1, and Ithaca code page 437; neither has a euro sign."""
    template = load_template(jurisdiction)
    currency = "EUR" if jurisdiction == "monaco" else "CAD"
    for changes in ({}, {"is_duplicate": True}, {"expires_at": None}, {"amount_cents": 123_456_78}):
        ticket = make_ticket(kind=kind, currency=currency, **changes)
        for language in ("en", "fr"):
            job = template.build_job("cashout-1", ticket, language)
            assert (job.job_id, job.template, job.barcode) == ("cashout-1", jurisdiction, ticket.number)
            assert tuple(job.fields) == template.field_names
            assert template.kinds[kind][language] in template.build_texts(ticket, language)["kind"]
            tcl.PrintTicket("0", (*job.fields.values(), job.barcode)).encode()
            ithaca.encode_ticket(list(job.fields.values()), job.barcode)


def test_a_field_that_a_printer_lacks_is_named():
    job = load_template("monaco").build_job(
        "1", make_ticket(currency="EUR", kind=TicketKind.HANDPAY_RECEIPT), "fr"
    )
    assert job.fields["amount"] == "123,45 EUR"
    assert job.fields["kind"] == "REÇU DE PAIEMENT MANUEL"
    odd = Venue(site="L’Œuf d’or * | ^ – Ōsaka 大阪 №1\t")
    assert load_template("generic").build_job("1", make_ticket(venue=odd), "fr").fields["site"] == (
        "L'OEuf d'or       - Osaka ?? N1"
    )
    coupon = load_template("quebec-vlt").build_job("1", make_ticket(), "fr")
    assert coupon.fields["validation"] == "CONTROLE / CONTROL  91-1234-5678-9012-3456"


@pytest.mark.requirement("H-03")
def test_a_venue_without_a_mandatory_field_is_refused():
    template = load_template("quebec-vlt")
    template.check_venue(HOUSE)
    with pytest.raises(InvalidTicket, match="quebec-vlt: the venue's licence_holder is missing"):
        template.check_venue(Venue(site="here"))
    load_template("generic").check_venue(Venue(site="here"))
    with pytest.raises(InvalidTicket, match="generic: the venue's site is missing"):
        load_template("generic").check_venue(Venue(site=" "))


# ---------------------------------------------------------------- refusals
def write_edited_template(tmp_path, jurisdiction, old, new):
    text = (_TEMPLATES_FOLDER / f"{jurisdiction}.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / f"{jurisdiction}.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def write_template_without(tmp_path, jurisdiction, name):
    text = (_TEMPLATES_FOLDER / f"{jurisdiction}.toml").read_text(encoding="utf-8")
    cut = re.sub(rf'\[\[lines\]\]\nname = "{name}"\n(?:.+\n)+', "", text)
    assert cut != text
    path = tmp_path / f"{jurisdiction}.toml"
    path.write_text(cut, encoding="utf-8")
    return path


@pytest.mark.requirement("H-02", "H-03")
@pytest.mark.parametrize("jurisdiction", PLACES)
def test_each_mandatory_field_left_out_is_refused(tmp_path, jurisdiction):
    """The test removes each field's braces from every line, and nothing else."""
    template = load_template(jurisdiction)
    for field in MANDATORY_FIELDS_BY_CLASS[template.ticket]:
        path = write_edited_template(tmp_path, jurisdiction, f"{{{field}}}", "left out")
        with pytest.raises(InvalidTicket, match=rf"{jurisdiction}.toml: .*must print {field} "):
            load_template(path)


def test_the_coupon_requires_more_fields_than_the_voucher():
    assert set(MANDATORY_FIELDS_BY_CLASS[TicketClass.COUPON]) - set(
        MANDATORY_FIELDS_BY_CLASS[TicketClass.VOUCHER]
    ) == {
        "scheme",
        "licence_holder",
        "credits",
    }
    assert set(MANDATORY_FIELDS_BY_CLASS[TicketClass.VOUCHER]) <= TICKET_FIELDS


@pytest.mark.requirement("H-04")
def test_the_number_is_printed_twice_and_at_the_left_edge(tmp_path):
    for line in ("number_edge", "validation"):
        with pytest.raises(InvalidTicket, match="must be printed twice"):
            load_template(write_template_without(tmp_path, "generic", line))
    with pytest.raises(InvalidTicket, match="left edge"):
        load_template(write_edited_template(tmp_path, "generic", "turn = 90", "turn = 0"))


REFUSALS = [
    ("[barcode]", "[barcode]\nspeed = 3", r"barcode.speed: Extra inputs"),
    ('ticket = "voucher"', 'ticket = "cheque"', r"ticket: must be 'voucher' or 'coupon', not 'cheque'"),
    ('en = "en_US"', 'en = "en_XX9"', r"locales.en"),
    ('en = "en_US"', 'en = "fr_CA"', r"locales.en: fr_CA is a locale of another language"),
    ('en = "HAND-PAY RECEIPT", ', "", r"kinds.handpay_receipt: no text for en"),
    ('{ en = "DUPLICATE", fr', "{ fr", r"duplicate: no text for en"),
    ("{address}", "{adress}", r"lines.address.text: unknown field adress"),
    ('name = "when"', 'name = "ticket"', r"lines: ticket appears twice"),
    ("at_mm = [78, 21]", "at_mm = [40, 21]", r"barcode: does not fit on the paper"),
    ("at_mm = [78, 5.2]", "at_mm = [30, 5.2]", r"lines.site: does not fit on the paper"),
    ("at_mm = [6, 32.5]", "at_mm = [6, 20]", r"lines.number_edge: does not fit on the paper"),
    ("module_dots = 4", "module_dots = 1", r"barcode.module_dots"),
    ('id = "generic"', 'id = "other"', r"id: 'other' is not the file's name"),
    ('id = "generic"', "id = generic", r"not TOML"),
]


@pytest.mark.parametrize(("old", "new", "reason"), REFUSALS)
def test_a_wrong_template_is_refused_with_file_key_and_reason(tmp_path, old, new, reason):
    with pytest.raises(InvalidTicket, match=rf"generic.toml: .*{reason}"):
        load_template(write_edited_template(tmp_path, "generic", old, new))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InvalidTicket, match="No such file"):
        load_template(tmp_path / "none.toml")


def test_every_shipped_template_states_its_source():
    for jurisdiction in PLACES:
        raw = tomllib.loads((_TEMPLATES_FOLDER / f"{jurisdiction}.toml").read_text(encoding="utf-8"))
        assert len(raw["source"]) > 20
