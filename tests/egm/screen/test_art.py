"""Every symbol of the library has its own drawing, and no two drawings are similar."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pygame
import pytest
from click.testing import CliRunner

from egm.screen.art import files as art_files
from egm.screen.art.files import PictureError, render_own_picture
from egm.screen.art.symbols import DRAWING_FILE_BY_NAME, find_drawing_name, is_blank, render_symbol_art
from egm.screen.art.vector_canvas import LinearGradient, VectorCanvas, create_painted_surface
from egm.screen.theme import ThemeError, load_theme, parse_colour
from paytables import load_game
from tools.cli import main

_FOLDER = Path(art_files.__file__).parent / "pictures"
PICTURES = sorted(path.stem for path in _FOLDER.glob("*.svg"))
_SVG = "{http://www.w3.org/2000/svg}"
_COLOUR = re.compile(r"none|#[0-9a-f]{3}|#[0-9a-f]{6}")
_ELEMENTS = re.compile(
    "svg|title|defs|linearGradient|radialGradient|stop|g|path|rect|circle|ellipse|polygon|polyline"
)
_ATTRIBUTES = re.compile(
    "viewBox|id|[xy][12]?|c[xy]|r[xy]?|width|height|d|points|(gradientT|t)ransform|gradientUnits|offset|"
    "stop-(color|opacity)|fill(-opacity|-rule)?|stroke(-opacity|-width|-linejoin|-linecap)?|"
    r"\{http://www.w3.org/1999/xlink\}href"
)


def test_every_symbol_of_the_library_has_a_drawing_of_its_own(published):
    assert published
    for game in published:
        drawings = {}
        for symbol in game.presentation.get("symbols", {}):
            if not is_blank(symbol):
                name = find_drawing_name(symbol)
                assert name is not None, f"{game.id}: {symbol} has no drawing"
                assert DRAWING_FILE_BY_NAME[name] not in drawings.values(), (
                    f"{game.id}: {symbol} looks like another"
                )
                drawings[symbol] = DRAWING_FILE_BY_NAME[name]


def test_every_game_of_the_library_has_a_look(published, theme):
    assert published
    for game in published:
        look = theme.find_look(game.id, game.family)
        assert look.name == game.family or game.id.startswith(look.name)


@pytest.mark.parametrize("side", [32, 512])
@pytest.mark.parametrize("name", sorted(DRAWING_FILE_BY_NAME))
def test_a_drawing_fills_its_square_and_is_premultiplied(name, side):
    art = render_symbol_art(name, name, (side, side))
    assert art.get_size() == (side, side)
    box = art.get_bounding_rect()
    assert box.width * box.height > side * side * 0.2
    pixels = [art.get_at((x, y)) for x in range(0, side, side // 16) for y in range(0, side, side // 16)]
    assert all(max(r, g, b) <= a + 1 for r, g, b, a in pixels)
    assert len({tuple(pixel) for pixel in pixels if pixel.a}) > 3


@pytest.mark.parametrize(
    "name", sorted({path.stem for path in DRAWING_FILE_BY_NAME.values()} - {"pilot", "prism"})
)
def test_only_the_glow_of_a_drawing_crosses_its_edge(name):
    art = render_symbol_art(name, name, (200, 200))
    edge = [art.get_at(pixel).a for i in range(200) for pixel in ((i, 0), (i, 199), (0, i), (199, i))]
    assert max(edge) <= 100


@pytest.mark.parametrize("size", [(32, 32), (512, 512), (300, 100)])
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_a_scene_is_complete_and_takes_the_given_colour(name, size):
    drawn = render_own_picture(name, size)
    assert drawn.get_size() == size
    box = drawn.get_bounding_rect()
    assert max(box.size) > 0.4 * min(size)
    assert abs(box.centerx - size[0] / 2) < 0.2 * size[0]
    green = render_own_picture(name, size, (0, 255, 0, 128))
    red, light, blue, opaque = pygame.transform.average_color(green)
    assert (red, blue) == (0, 0)
    assert 0 < light <= opaque <= 128


def test_every_picture_file_is_shown_somewhere():
    source = "".join(path.read_text(encoding="utf-8") for path in _FOLDER.parents[1].rglob("*.py"))
    assert PICTURES
    for name in PICTURES:
        kind = name.rpartition("_")[0]
        assert f'"{name}"' in source or (kind and f'f"{kind}_{{' in source), name


def test_every_drawing_uses_only_what_the_decoder_supports():
    files = sorted({*DRAWING_FILE_BY_NAME.values(), *_FOLDER.glob("*.svg")})
    assert len(files) > 110
    for file in files:
        root = ET.parse(file).getroot()
        assert file.parent == _FOLDER or root.get("viewBox") == "0 0 100 100", file.name
        assert root.findtext(f"{_SVG}title"), file.name
        names = {element.get("id") for element in root.iter()} - {None}
        for element in root.iter():
            assert _ELEMENTS.fullmatch(element.tag.removeprefix(_SVG)), f"{file.name}: {element.tag}"
            for key in element.attrib:
                assert _ATTRIBUTES.fullmatch(key), f"{file.name}: {key}"
            for key in ("fill", "stroke", "stop-color"):
                paint = element.get(key, "none")
                is_known_paint = (
                    paint[5:-1] in names if paint.startswith("url(#") else _COLOUR.fullmatch(paint)
                )
                assert is_known_paint, f"{file.name}: {paint}"


def test_every_drawing_would_be_accepted_as_a_games_picture(tmp_path):
    file = tmp_path / "mine.toml"
    assert CliRunner().invoke(main, ["game", "new", str(file)]).exit_code == 0
    text = file.read_text(encoding="utf-8")
    symbols = sorted(load_game(file).build_presentation()["symbols"])
    drawings = sorted({*DRAWING_FILE_BY_NAME.values()})
    assert len(symbols) > 4
    for drawing_file in drawings:
        (tmp_path / drawing_file.name).write_bytes(drawing_file.read_bytes())
    for first in range(0, len(drawings), len(symbols)):
        some = dict(zip(symbols, drawings[first:], strict=False))
        pictures = ", ".join(f'{symbol} = "{path.name}"' for symbol, path in some.items())
        file.write_text(f"{text}\n[art]\npictures = {{ {pictures} }}\n", encoding="utf-8")
        assert len(load_game(file).assets) == len(some)


def test_a_drawing_that_is_broken_or_missing_is_an_error_with_its_name(tmp_path, monkeypatch):
    drawing = DRAWING_FILE_BY_NAME["cherry"].read_bytes()
    for name, data, expected_pattern in (
        ("half.svg", drawing[: len(drawing) // 2], "half.svg: .*: line "),
        ("empty.svg", b"", "empty.svg: no element found"),
        ("other.svg", b"<html/>", "other.svg: "),
        ("gone.svg", None, "gone.svg: No such file"),
    ):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        monkeypatch.setitem(DRAWING_FILE_BY_NAME, "cherry", tmp_path / name)
        with pytest.raises(PictureError, match=expected_pattern):
            render_symbol_art("cherry", "Cherry", (40, 40))


def test_a_symbol_without_a_drawing_shows_its_name(theme):
    unknown = render_symbol_art("zzz", "Zzz", (80, 80))
    assert find_drawing_name("zzz") is None
    assert unknown.get_bounding_rect().width > 60
    assert render_symbol_art("blank", "", (20, 20)).get_bounding_rect().width == 0


def test_drawings_are_found_by_symbol_name():
    assert find_drawing_name("Triple Bar") == "triple_bar"
    assert find_drawing_name("K") == "king"
    assert find_drawing_name("7") == "seven"
    assert find_drawing_name("red-seven") == "red_seven"


def test_a_gradient_runs_from_its_first_colour_to_its_last():
    surface = create_painted_surface((4, 200), LinearGradient(((0, (255, 0, 0, 255)), (1, (0, 0, 255, 255)))))
    assert surface.get_at((1, 0)).r > 240
    assert surface.get_at((1, 199)).b > 240


def test_ink_clips_a_shape_to_another():
    canvas = VectorCanvas((100, 100), oversampling_factor=1)
    canvas.fill_inside(
        [(0, 0), (50, 0), (50, 100), (0, 100)], [(25, 25), (75, 25), (75, 75), (25, 75)], (255, 255, 255, 255)
    )
    assert canvas.finish_surface().get_bounding_rect() == pygame.Rect(25, 25, 26, 51)


def test_a_broken_theme_is_named(tmp_path):
    with pytest.raises(ThemeError, match="#12"):
        parse_colour("#12")
    path = tmp_path / "theme.toml"
    path.write_text("[fonts]\n", "utf-8")
    with pytest.raises(ThemeError, match=r"theme\.toml"):
        load_theme(path)
