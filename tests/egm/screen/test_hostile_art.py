"""Pictures that comply with every format limit, but would crash or block their decoder."""

import math
import struct
import time
import zlib

import pytest
from click.testing import CliRunner
from test_game_art import SVG, png, write_custom_game

from egm.kernel.messages import ArtFile
from egm.screen.art import game_pictures
from egm.screen.art.game_pictures import PICTURE_SIZE_BYTES, draw_in_child_process
from egm.screen.painter import Painter
from paytables import load_game
from paytables.assets import PICTURE_BYTES_MAX
from tools.cli import main
from tools.lab.views import build_game_view

ROOT = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="{}">{}</svg>'


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _bomb(kind, before):
    """Return a PNG of 64 x 64 pixels with a chunk that unpacks to 400 MB."""
    megabytes = 400
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)  # the same for each megabyte
    checksum = ((megabytes << 20) % 65521 << 16) | 1  # Adler-32 of that many zero bytes
    packed = b"\x78\xda" + megabytes * block + packer.flush() + struct.pack(">I", checksum)
    plain = png()
    inserted = _chunk(kind, before + packed)
    if kind == b"IDAT":
        start = plain.index(b"IDAT") - 4
        return plain[:start] + inserted + _chunk(b"IEND", b"")
    return plain[:33] + inserted + plain[33:]


def _slow():
    """Return a picture of many nested curves that takes seconds to draw, with as many bytes as are permitted."""
    turns = [
        (f"{50 + 45 * math.cos(i * 2.399):.1f}", f"{50 + 45 * math.sin(i * 2.399):.1f}") for i in range(5000)
    ]
    path = "M50 50" + "".join(f"L{x} {y}" for x, y in turns)
    return ROOT.format(
        "0 0 100 100",
        f'<path d="{path}" fill="none" stroke="#fff" stroke-width="90" stroke-linejoin="round"/>' * 2,
    )


HOSTILE = {
    "flat": (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="1e38" height="1e-38"><rect width="9" height="9"/></svg>',
        ".svg",
    ),
    "below_zero": (ROOT.format("0 0 -9 -9", '<rect width="9" height="9"/>').encode(), ".svg"),
    "hairline": (ROOT.format("0 0 1000000 1", '<rect width="9" height="9"/>').encode(), ".svg"),
    "vast": (ROOT.format("0 0 1e30 1e30", '<rect width="9" height="9"/>').encode(), ".svg"),
    "slow": (_slow().encode(), ".svg"),
    "outside": (ROOT.format("0 0 9 9", '<rect x="99" width="9" height="9"/>').encode(), ".svg"),
    "clear": (png(colour=(0, 0, 0, 0)), ".png"),
    "profile_bomb": (_bomb(b"iCCP", b"a\0\0"), ".png"),
    "text_bomb": (_bomb(b"zTXt", b"a\0\0"), ".png"),
    "cut": (png()[:60], ".png"),
}
"""Name, bytes and kind of files that `game check` called valid, or that a decoder may be given all the same."""


@pytest.fixture
def definition_file(tmp_path):
    return write_custom_game(tmp_path)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_picture_ends_only_the_process_that_draws_it(name):
    """Two good pictures beside it are drawn, and the bad one is identified, in a limited time."""
    data, kind = HOSTILE[name]
    good = SVG.format("#e010f0").encode()
    began = time.process_time()
    first, answer, last = draw_in_child_process([("a.svg", good), (f"{name}{kind}", data), ("z.png", png())])
    assert (len(first), len(last)) == (PICTURE_SIZE_BYTES, PICTURE_SIZE_BYTES)
    assert isinstance(answer, str) or len(answer) == PICTURE_SIZE_BYTES, answer
    assert time.process_time() - began < 2, "nothing of it is drawn in this process"


@pytest.mark.parametrize("name", ["flat", "below_zero", "hairline", "slow", "outside", "clear", "cut"])
def test_egm_game_check_refuses_a_picture_that_the_screen_cannot_show(definition_file, name):
    data, kind = HOSTILE[name]
    assert len(data) <= PICTURE_BYTES_MAX
    definition_file.write_text(definition_file.read_text().replace("seven.svg", f"seven{kind}"))
    (definition_file.parent / f"seven{kind}").write_bytes(data)
    result = CliRunner().invoke(main, ["game", "check", str(definition_file)])
    assert result.exit_code == 1, result.output
    assert "art.pictures.seven" in " ".join(result.output.split())


def test_a_game_with_hostile_pictures_shows_the_screens_drawings(definition_file, theme, capfd):
    """An earlier version of the machine accepted the game; the screen reports it once, and draws its own pictures."""
    data, _ = HOSTILE["flat"]
    (definition_file.parent / "seven.svg").write_bytes(data)
    game = build_game_view(load_game(definition_file))
    painter = Painter(theme)
    painter.set_game_pictures(game)
    for _ in range(3):
        drawn = painter.render_symbol("seven", "Seven", (90, 90))
        assert drawn.get_bounding_rect().width > 40
    assert painter.render_symbol("bell", "Bell", (90, 90)).get_at((45, 45))[:3] == (10, 200, 30)
    assert capfd.readouterr().err.count("seven.svg: ") == 1


def test_pictures_share_one_limit_of_time(monkeypatch):
    monkeypatch.setattr(game_pictures, "_game_drawing_seconds_max", 1.5)
    began = time.monotonic()
    answers = draw_in_child_process([(f"{n}.svg", HOSTILE["slow"][0]) for n in range(64)])
    assert all(isinstance(answer, str) for answer in answers)
    assert time.monotonic() - began < 60
    assert (
        any("the pictures before it" in answer for answer in answers) or "could not be drawn" in answers[-1]
    )


def test_without_answer_of_the_drawing_process_the_screens_drawings_are_shown(monkeypatch, tmp_path):
    monkeypatch.setattr(game_pictures, "build_python_command", lambda *_: ("/bin/sh", "-c", "exec sleep 60"))
    monkeypatch.setattr(game_pictures, "_PROCESS_SECONDS_MAX", 0.2)
    assert [type(answer) for answer in draw_in_child_process([("a.png", png())] * 2)] == [str, str]
    monkeypatch.setattr(game_pictures, "build_python_command", lambda *_: ("/no/such/program",))
    assert [type(answer) for answer in draw_in_child_process([("a.png", png())])] == [str]
    path = tmp_path / "a.png"
    path.write_bytes(png())
    assert game_pictures.get_game_picture(ArtFile(path=str(path), sha256="0" * 64), 40) is None
