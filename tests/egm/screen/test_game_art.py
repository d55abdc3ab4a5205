"""A game's own pictures and sounds: which are accepted, which refused, what the digest covers, what is shown."""

import io
import json
import struct
import wave
from dataclasses import replace
from pathlib import Path

import pygame
import pytest
from click.testing import CliRunner

from egm.config.cabinet_file import CabinetFile
from egm.screen.art.files import read_unchanged_file
from egm.screen.audio.cues import SoundPlayer, find_sound_family
from egm.screen.audio.scores import PEAK_SHARE_BY_CHANNEL, list_family_cues
from egm.screen.audio.sound_store import SoundStore, build_game_family_name
from egm.screen.painter import Painter
from egm.screen.view import View
from egm.verify.own_files import list_own_definition_files
from paytables import DefinitionError, build_game_from_json, load_game
from paytables.assets import PICTURE_BYTES_MAX, REPLACEABLE_SOUNDS, SOUND_SAMPLES_PER_SECOND
from tools.cli import main
from tools.dev.gallery import play_game, show_outcome
from tools.lab.picture_sheets import draw_idle_game
from tools.lab.views import build_game_view, build_idle_view

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><rect width="10" height="10" fill="{}"/></svg>'
ART = """
[art]
look = "comet"
pictures = { seven = "seven.svg", bell = "bell.png" }
sounds = { turn = "turn.wav", win_1 = "hooray.wav" }
"""


def build_sound(seconds=0.5, rate=SOUND_SAMPLES_PER_SECOND, channels=1, width=2, level=30000):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        count = int(seconds * rate) * channels
        period = b"".join(struct.pack("<h", level if i % 50 < 25 else -level) for i in range(100))
        file.writeframes((period * (count * width // len(period) + 1))[: count * width])
    return buffer.getvalue()


def png(size=(64, 64), colour=(10, 200, 30, 255)):
    picture = pygame.Surface(size, pygame.SRCALPHA)
    picture.fill(colour)
    buffer = io.BytesIO()
    pygame.image.save(picture, buffer, "x.png")
    return buffer.getvalue()


def write_custom_game(folder):
    """Write a game with two pictures and two sounds."""
    file = folder / "mine.toml"
    assert CliRunner().invoke(main, ["game", "new", str(file)]).exit_code == 0
    file.write_text(file.read_text(encoding="utf-8") + ART, encoding="utf-8")
    (folder / "seven.svg").write_text(SVG.format("#e010f0"), encoding="utf-8")
    (folder / "bell.png").write_bytes(png())
    (folder / "turn.wav").write_bytes(build_sound())
    (folder / "hooray.wav").write_bytes(build_sound(level=900))
    return file


@pytest.fixture
def definition_file(tmp_path):
    return write_custom_game(tmp_path)


# ---------------------------------------------------------------------- the definition
def test_the_digest_covers_every_byte_of_a_games_art(definition_file):
    game = load_game(definition_file)
    assert game.id in CliRunner().invoke(main, ["game", "check", str(definition_file)]).output
    assert sorted(game.assets) == ["bell.png", "hooray.wav", "seven.svg", "turn.wav"]
    rebuilt = build_game_from_json(game.text, "the journal")
    assert (rebuilt.digest, rebuilt.assets) == (game.digest, {})
    for name in game.assets:
        path = definition_file.parent / name
        before = path.read_bytes()
        path.write_bytes(
            before.replace(b"#e010f0", b"#e010f1") if name.endswith("svg") else before[:-2] + b"\x01\x02"
        )
        assert load_game(definition_file).digest != game.digest, name
        path.write_bytes(before)
    assert load_game(definition_file).digest == game.digest


def test_the_signed_manifest_includes_a_games_art(definition_file):
    cabinet = CabinetFile.model_validate(
        {
            "machine": {"serial": "A", "operator_number": "1", "profile": "generic", "site": "x"},
            "games": [{"game": str(definition_file)}, {"game": "maple-classic"}],
        }
    )
    paths = {Path(path).name for _, path in list_own_definition_files(cabinet)}
    assert paths == {"mine.toml", "seven.svg", "bell.png", "turn.wav", "hooray.wav"}


def test_the_stated_digest_of_the_art_is_enforced(definition_file):
    text = definition_file.read_text(encoding="utf-8")
    digests = {name: source.digest for name, source in load_game(definition_file).assets.items()}
    written = ", ".join(f'"{name}" = "{digest}"' for name, digest in digests.items())
    definition_file.write_text(f"{text}sha256 = {{ {written} }}\n", encoding="utf-8")
    assert load_game(definition_file).assets
    (definition_file.parent / "bell.png").write_bytes(png(colour=(1, 2, 3, 255)))
    with pytest.raises(DefinitionError, match=r"art\.sha256: bell\.png is another file"):
        load_game(definition_file)


_SCRIPT = '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'
_WORDS = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/><text>WILD</text></svg>'
_SHARES = '<svg xmlns="http://www.w3.org/2000/svg"><linearGradient x2="0" y2="1"/><rect width="9" height="9"/></svg>'
_STYLED = '<svg xmlns="http://www.w3.org/2000/svg"><rect style="stroke-width:2;fill:hsl(9,9%,9%)"/></svg>'
_LINK = '<svg xmlns="http://www.w3.org/2000/svg"><a href="http://x"/></svg>'
_ENTITY = '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>'
_MANY = f'<svg xmlns="http://www.w3.org/2000/svg">{"<g/>" * 4001}</svg>'


@pytest.mark.parametrize(
    ("name", "data", "key", "reason"),
    [
        ("seven.svg", None, "art.pictures.seven", "No such file"),
        ("seven.svg", b"<html/>", "art.pictures.seven", "its root is <html>"),
        ("seven.svg", b"<svg", "art.pictures.seven", "is not a valid SVG file"),
        ("seven.svg", _SCRIPT.encode(), "art.pictures.seven", "has <script>"),
        ("seven.svg", _LINK.encode(), "art.pictures.seven", "refers elsewhere"),
        ("seven.svg", _WORDS.encode(), "art.pictures.seven", "has <text>: only shapes are taken"),
        (
            "seven.svg",
            _SHARES.encode(),
            "art.pictures.seven",
            "<lineargradient> gives its coordinates as fractions",
        ),
        ("seven.svg", _STYLED.encode(), "art.pictures.seven", "has the colour hsl(9,9%,9%): write #rrggbb"),
        ("seven.svg", SVG.format("#e010f080").encode(), "art.pictures.seven", "has the colour #e010f080"),
        ("seven.svg", SVG.format("tomato").encode(), "art.pictures.seven", "has the colour tomato"),
        ("seven.svg", _ENTITY.encode(), "art.pictures.seven", "has a document type"),
        ("seven.svg", _MANY.encode(), "art.pictures.seven", "more than 4000 elements"),
        ("bell.png", b"no picture at all", "art.pictures.bell", "is not a PNG file"),
        ("bell.png", png((4000, 8)), "art.pictures.bell", "4000 x 8 pixels; 16 to 1024"),
        ("bell.png", png() + bytes(PICTURE_BYTES_MAX), "art.pictures.bell", "at most 524,288 bytes"),
        ("bell.png", bytes(2_000_000), "art.pictures.bell", "too large"),
        ("turn.wav", b"RIFFnonsense", "art.sounds.turn", "is not a WAV file"),
        ("turn.wav", build_sound(rate=44100), "art.sounds.turn", "16 bits at 44,100 Hz; one of 16 at 22,050"),
        ("turn.wav", build_sound(channels=2), "art.sounds.turn", "has 2 channel(s)"),
        ("turn.wav", build_sound(width=1), "art.sounds.turn", "of 8 bits"),
        ("turn.wav", build_sound(seconds=0), "art.sounds.turn", "sounds 0.0 s"),
        ("turn.wav", build_sound(seconds=15.5), "art.sounds.turn", "sounds 15.5 s"),
    ],
)
def test_a_file_that_is_neither_picture_nor_sound_is_refused_by_name(
    definition_file, name, data, key, reason
):
    path = definition_file.parent / name
    path.unlink() if data is None else path.write_bytes(data)
    result = CliRunner().invoke(main, ["game", "check", str(definition_file)])
    assert result.exit_code == 1
    output = " ".join(result.output.split())
    assert f"{key}: {name}: " in output
    assert reason in output
    assert ", line " in output


@pytest.mark.parametrize(
    ("old", "new", "expected_text"),
    [
        (
            'seven = "seven.svg"',
            'zebra = "seven.svg"',
            ": art.pictures.zebra: there is no symbol 'zebra'; there are: star, seven",
        ),
        (
            'seven = "seven.svg"',
            'seven = "../seven.svg"',
            "must be the name of a file in the definition's folder",
        ),
        (
            'seven = "seven.svg"',
            'seven = "/etc/passwd"',
            "must be the name of a file in the definition's folder",
        ),
        ('seven = "seven.svg"', "seven = 7", "must be the name of a file in the definition's folder"),
        ('seven = "seven.svg"', 'seven = "turn.wav"', "a picture is an SVG or PNG file"),
        ('turn = "turn.wav"', 'waltz = "turn.wav"', "no sound 'waltz'; there are: anticipation"),
        ('turn = "turn.wav"', 'turn = "bell.png"', "a sound is a WAV file"),
        ('look = "comet"', 'looks = "comet"', "did you mean `look`?"),
    ],
)
def test_a_reference_to_a_missing_art_file_is_refused(definition_file, old, new, expected_text):
    text = definition_file.read_text(encoding="utf-8")
    assert old in text
    definition_file.write_text(text.replace(old, new), encoding="utf-8")
    result = CliRunner().invoke(main, ["game", "check", str(definition_file)])
    assert result.exit_code == 1
    assert expected_text in " ".join(result.output.split())


def test_a_link_out_of_the_folder_is_refused(definition_file, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "bell.png"
    elsewhere.write_bytes(png())
    (definition_file.parent / "bell.png").unlink()
    (definition_file.parent / "bell.png").symlink_to(elsewhere)
    with pytest.raises(DefinitionError, match="leads out of the game's folder"):
        load_game(definition_file)


def test_an_unknown_look_is_a_warning(definition_file):
    text = definition_file.read_text(encoding="utf-8")
    definition_file.write_text(text.replace('look = "comet"', 'look = "disco"'), encoding="utf-8")
    output = CliRunner().invoke(main, ["game", "check", str(definition_file)]).output
    assert "warning: art.look: no look 'disco'; there are: amethyst" in " ".join(output.split())


def test_a_game_may_supply_the_sounds_that_the_screens_families_have():
    assert set(REPLACEABLE_SOUNDS) == set(list_family_cues())


def test_symbols_and_sounds_that_a_game_may_supply_are_listed(tmp_path):
    sheet = tmp_path / "sheet.png"
    runner = CliRunner()
    listed = json.loads(runner.invoke(main, ["game", "art", "--json"]).stdout)
    names = {
        kind: [row["name"] for row in listed if row["kind"] == kind] for kind in ("symbol", "look", "sound")
    }
    assert {"maple", "seven", "bar_3"} <= set(names["symbol"])
    assert {"aurora", "comet"} <= set(names["look"])
    assert set(names["sound"]) == set(REPLACEABLE_SOUNDS)
    result = runner.invoke(main, ["game", "art", "--sheet", str(sheet)])
    assert f"{len(names['symbol'])} symbols" in result.output
    assert pygame.image.load(sheet).get_width() == 1280
    assert (
        "No such file"
        in runner.invoke(main, ["game", "art", "--sheet", str(tmp_path / "no" / "x.png")]).output
    )


# ---------------------------------------------------------------------- the screen
def test_a_games_pictures_are_drawn_only_for_that_game(definition_file, theme):
    game = build_game_view(load_game(definition_file))
    painter = Painter(theme)
    painter.set_game_pictures(game)
    seven = painter.find_or_create_surface("seven", lambda: painter.render_symbol("seven", "Seven", (90, 90)))
    assert seven.get_at((45, 45))[:3] == (0xE0, 0x10, 0xF0)
    assert painter.render_symbol("bell", "Bell", (90, 90)).get_at((45, 45))[:3] == (10, 200, 30)
    painter.set_game_pictures(None)
    other = painter.find_or_create_surface("seven", lambda: painter.render_symbol("seven", "Seven", (90, 90)))
    assert other.get_at((45, 45))[:3] != (0xE0, 0x10, 0xF0)
    assert theme.find_look(game.id, game.family, game.art.look).name == "comet"


def test_the_preview_shows_a_games_pictures(definition_file):
    path = definition_file.with_suffix(".png")
    draw_idle_game(load_game(definition_file), path, 0.5)
    picture = pygame.image.load(path)
    seen = {
        tuple(picture.get_at((x, y))[:3]) for x in range(0, picture.get_width(), 3) for y in range(0, 300, 3)
    }
    assert (0xE0, 0x10, 0xF0) in seen


def test_a_changed_art_file_is_not_decoded(definition_file, theme, capfd):
    game = build_game_view(load_game(definition_file))
    (definition_file.parent / "bell.png").write_bytes(png(colour=(255, 0, 0, 255)))
    painter = Painter(theme)
    painter.set_game_pictures(game)
    assert painter.render_symbol("bell", "Bell", (90, 90)).get_at((45, 45))[:3] not in {
        (255, 0, 0),
        (10, 200, 30),
    }
    assert "bell.png: is not the file the machine read" in capfd.readouterr().err


def test_a_games_sounds_are_limited_in_volume_and_completed_from_its_look(definition_file, theme, capfd):
    loaded = load_game(definition_file)
    game = build_game_view(loaded)
    sound_store = SoundStore()
    sound_store.store_game_sounds(game)
    own_family = build_game_family_name(game)
    most = max(map(abs, memoryview(sound_store.find_sound("turn", own_family)).cast("h")))
    assert 0.9 * PEAK_SHARE_BY_CHANNEL["turn"] < most / 32767 <= PEAK_SHARE_BY_CHANNEL["turn"]
    soft = max(map(abs, memoryview(sound_store.find_sound("win_1", own_family)).cast("h")))
    assert soft == 900  # as it was

    played_sounds = []

    class CarrierListener:
        def play(self, cue, family, _channel, _level):
            played_sounds.append((cue, family))

        def stop(self, _):
            pass

        def level(self, *_):
            pass

    sounds = SoundPlayer(theme, CarrierListener(), sound_store)
    sound_store.request_families = lambda *_: None  # nothing is made: only what it brings is there
    view = show_outcome(build_idle_view((game,), game, "en"), game, play_game(loaded, "mine/1", 3))
    sounds.play_changes(View(), view)
    before = view
    for i in range(1, 100):
        after = replace(view, now=view.now + i * 0.03)
        sounds.play_changes(before, after)
        before = after
    assert ("turn", own_family) in played_sounds
    assert ("stop_1", "comet") in played_sounds
    assert find_sound_family(view, theme) == "comet"
    (definition_file.parent / "turn.wav").write_bytes(build_sound(seconds=1))
    read_unchanged_file.cache_clear()
    changed = SoundStore()
    changed.store_game_sounds(game)
    assert changed.find_sound("turn", own_family) is None
    assert changed.find_sound("win_1", own_family) is not None
    assert "turn.wav: is not the file the machine read" in capfd.readouterr().err
