"""A game's own pictures and sounds: bounded files next to its definition, read once and covered by its digest.

``[art]`` names them. Each file is read when the game is loaded and checked against what the screen can decode
(SVG or PNG, and sounds as plain WAV). Its SHA-256 becomes part of the definition, so changing a picture makes
a different game. Only form and size are checked here; pictures are not decoded.
"""

import io
import re
import wave
import xml.parsers.expat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from paytables.errors import DefinitionError
from paytables.source import SourceFile, read_contents

#: The maximum number of picture and sound files of one game.
ASSET_FILES_MAX: Final = 64
#: The maximum size of a picture, in bytes.
PICTURE_BYTES_MAX: Final = 512 * 1024
#: The maximum size of a sound, in bytes.
SOUND_BYTES_MAX: Final = 700 * 1024
#: The maximum size of all assets of a game together, in bytes.
ASSET_BYTES_MAX: Final = 8 * 1024 * 1024
#: The smallest and the largest width and height of a PNG, in pixels.
PICTURE_PIXELS_RANGE: Final = (16, 1024)
#: The maximum number of elements of an SVG.
SVG_ELEMENTS_MAX: Final = 4000
#: The sample rate that every sound must have; sounds have one 16-bit channel.
SOUND_SAMPLES_PER_SECOND: Final = 22050
#: Longest sound, in seconds.
SOUND_SECONDS_MAX: Final = 15
#: The game events that may have their own sound.
REPLACEABLE_SOUNDS: Final = (
    "anticipation",
    "attract",
    "closing",
    "count",
    "count_end",
    "credit",
    "feature",
    *(f"stop_{n}" for n in range(1, 7)),
    "title",
    "turn",
    *(f"win_{n}" for n in range(1, 5)),
)
#: Form of an asset's file name.
_ASSET_NAME_PATTERN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: First bytes of a PNG.
_PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
#: Namespace of SVG elements.
_SVG_NAMESPACE: Final = "http://www.w3.org/2000/svg"
#: The maximum number of numbers in all paths and point lists of a picture.
_SVG_NUMBERS_MAX: Final = 20_000
#: A number in a path or a list of points.
_SVG_NUMBER_PATTERN: Final = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")
#: SVG elements that are shapes.
_SVG_SHAPE_ELEMENTS: Final = frozenset({"path", "rect", "circle", "ellipse", "line", "polyline", "polygon"})
#: Dashed lines are refused: dashes have no minimum length and every dash is drawn.
_DASHED_STROKE_PATTERN: Final = re.compile(r"stroke-dasharray\s*:\s*(?!none)[^\s;]", re.IGNORECASE)
#: Attributes that refer to something else.
_LINK_ATTRIBUTES: Final = frozenset({"href", "src"})
#: SVG elements that are refused: they add more than shapes, or the screen would omit them silently.
_REFUSED_SVG_ELEMENTS: Final = frozenset(
    {"script", "image", "foreignobject", "use", "animate", "set", "iframe"}
) | {
    "clippath",
    "filter",
    "marker",
    "mask",
    "pattern",
    "text",
}
#: Matches each paint of a picture: the value of fill, stroke or stop-color.
_STYLE_PAINT_PATTERN: Final = re.compile(
    r"(?:^|[;{\s])(?:fill|stroke|stop-color)\s*:\s*([^;}]+)", re.IGNORECASE
)
#: Matches the paints that the screen can draw; any other would appear grey.
_PERMITTED_PAINT_PATTERN: Final = re.compile(
    r"none|#[0-9a-f]{3}|#[0-9a-f]{6}|rgb\([^,)]+,[^,)]+,[^,)]+\)|url\(#[^)]+\).*|"
    "red|green|blue|yellow|cyan|magenta|black|gr[ae]y|white",
    re.IGNORECASE,
)
#: The attributes that give the start and end of a gradient.
_GRADIENT_POSITION_ATTRIBUTES: Final = ("x1", "x2", "y1", "y2", "cx", "cy", "r", "fx", "fy")


def read_assets(definition_data: Mapping[str, Any], definition_path: Path) -> dict[str, SourceFile]:
    """Return the picture and sound files that a definition's ``[art]`` table names, by file name.

    Raises :class:`DefinitionError` with file, key and reason.
    """
    file = str(definition_path)
    sources: dict[str, SourceFile] = {}
    for key, name in _iter_named_files(definition_data, file):
        if name not in sources:
            sources[name] = _read_asset(name, definition_path, key)
        find_error = _find_sound_error if key.startswith("art.sounds.") else _find_picture_error
        if reason := find_error(sources[name].data, Path(name).suffix):
            raise DefinitionError(file, key, f"{name}: {reason}")
    if len(sources) > ASSET_FILES_MAX:
        raise DefinitionError(file, "art", f"names more than {ASSET_FILES_MAX} files: {len(sources)}")
    total_bytes = sum(len(source.data) for source in sources.values())
    if total_bytes > ASSET_BYTES_MAX:
        raise DefinitionError(
            file, "art", f"its files have {total_bytes:,} bytes together, at most {ASSET_BYTES_MAX:,}"
        )
    return sources


def add_asset_digests(
    definition_data: Mapping[str, Any], assets: Mapping[str, SourceFile], file: str
) -> dict[str, Any]:
    """Return the definition with the SHA-256 of its asset files added.

    Raises DefinitionError if the definition already states a different digest.
    """
    if not assets:
        return dict(definition_data)
    digests = {name: assets[name].digest for name in sorted(assets)}
    stated_digests = definition_data["art"].get("sha256", digests)
    for name, digest in digests.items():
        if not isinstance(stated_digests, Mapping) or stated_digests.get(name) != digest:
            raise DefinitionError(file, "art.sha256", f"{name} is another file: it has {digest}")
    return {**definition_data, "art": {**definition_data["art"], "sha256": digests}}


def _iter_named_files(definition_data: Mapping[str, Any], file: str) -> Iterator[tuple[str, str]]:
    """Yield each key of a definition's ``[art]`` that names a file, with that name.

    Raises :class:`DefinitionError` if the name is not a plain file name. What is not a table is left out; the
    definition's data model refuses it.
    """
    art = definition_data.get("art", {})
    for kind in ("pictures", "sounds"):
        table = art.get(kind, {}) if isinstance(art, Mapping) else {}
        for key, name in table.items() if isinstance(table, Mapping) else ():
            definition_key = f"art.{kind}.{key}"
            if not isinstance(name, str) or not _ASSET_NAME_PATTERN.fullmatch(name):
                raise DefinitionError(
                    file,
                    definition_key,
                    f"{name!r} must be the name of a file in the definition's folder, without a path",
                )
            yield definition_key, name


def _read_asset(file_name: str, definition_path: Path, definition_key: str) -> SourceFile:
    """Return a file next to the definition. Raises :class:`DefinitionError` for the key ``definition_key``."""
    path = definition_path.parent / file_name
    try:
        if path.resolve().parent != definition_path.parent.resolve():
            raise DefinitionError(
                str(definition_path), definition_key, f"{file_name}: leads out of the game's folder"
            )
        return SourceFile(path.resolve(), read_contents(path, max(PICTURE_BYTES_MAX, SOUND_BYTES_MAX)))
    except OSError as error:
        raise DefinitionError(
            str(definition_path), definition_key, f"{file_name}: {error.strerror}"
        ) from None


def _find_picture_error(file_bytes: bytes, suffix: str) -> str:
    """Return why these bytes are not an acceptable picture, or an empty string if they are."""
    if len(file_bytes) > PICTURE_BYTES_MAX:
        return f"a picture has at most {PICTURE_BYTES_MAX:,} bytes; it has {len(file_bytes):,}"
    if suffix == ".png":
        return _find_png_error(file_bytes)
    return _find_svg_error(file_bytes) if suffix == ".svg" else "a picture is an SVG or PNG file (.svg, .png)"


def _find_png_error(file_bytes: bytes) -> str:
    """Return why the screen refuses a PNG picture, or an empty string if it does not."""
    if not file_bytes.startswith(_PNG_SIGNATURE) or len(file_bytes) < 33:
        return "is not a PNG file"
    width, height = (int.from_bytes(file_bytes[offset : offset + 4]) for offset in (16, 20))
    pixels_min, pixels_max = PICTURE_PIXELS_RANGE
    if not (pixels_min <= width <= pixels_max and pixels_min <= height <= pixels_max):
        return f"is {width} x {height} pixels; {pixels_min} to {pixels_max} each way are taken"
    return ""


def _find_svg_error(file_bytes: bytes) -> str:
    """Return why the screen refuses an SVG picture, or an empty string if it does not.

    An SVG may contain only shapes: no document type (so no entities), nothing that is loaded or executed, and
    a bounded element count.
    """
    errors: list[str] = []
    element_count = number_count = shape_count = 0

    def check_element(name: str, attributes: Mapping[str, str]) -> None:
        """Count an SVG element, its shapes and numbers; record as errors what the screen cannot draw."""
        nonlocal element_count, number_count, shape_count
        element_count += 1
        plain_name = name.rpartition("}")[2].lower()
        shape_count += plain_name in _SVG_SHAPE_ELEMENTS
        number_count += sum(
            len(_SVG_NUMBER_PATTERN.findall(attributes.get(key, ""))) for key in ("d", "points")
        )
        check_style(
            ";".join(f"{key}:{value}" if key != "style" else value for key, value in attributes.items())
        )
        errors.extend(_iter_size_errors(attributes) if element_count == 1 else ())
        if element_count == 1 and name != f"{_SVG_NAMESPACE}}}svg":
            errors.append(f"its root is <{plain_name}>, not an <svg> of {_SVG_NAMESPACE}")
        errors.extend(_iter_element_errors(plain_name, attributes))

    def check_style(text: str) -> None:
        """Record as errors what the screen cannot draw of an SVG style."""
        errors.extend(_iter_style_errors(text))

    def refuse_document_type(*_: object) -> None:
        """Record as an error that the picture has a document type."""
        errors.append("has a document type")

    reader = xml.parsers.expat.ParserCreate(namespace_separator="}")
    reader.buffer_text = True
    reader.CharacterDataHandler = check_style
    reader.StartElementHandler = check_element
    reader.StartDoctypeDeclHandler = refuse_document_type
    try:
        reader.Parse(file_bytes, True)
    except xml.parsers.expat.ExpatError as error:
        errors.append(f"is not a valid SVG file: {error}")
    errors.extend(_iter_amount_errors(element_count, number_count, shape_count))
    return errors[0] if errors else ""


def _iter_element_errors(element: str, attributes: Mapping[str, str]) -> Iterator[str]:
    """Yield the reasons why the screen cannot draw an SVG element as intended."""
    if element in _REFUSED_SVG_ELEMENTS:
        yield f"has <{element}>: only shapes are taken"
    if element.endswith("gradient") and _has_fractional_positions(attributes):
        yield f"<{element}> gives its coordinates as fractions of the shape: write them in per cent"
    if _has_outside_links(attributes):
        yield f"<{element}> refers elsewhere: only shapes are taken"


def _iter_style_errors(style: str) -> Iterator[str]:
    """Yield the reasons why the screen cannot draw an SVG style as intended."""
    if _DASHED_STROKE_PATTERN.search(style):
        yield "has a stroke-dasharray, which the screen cannot draw: use unbroken lines"
    for paint in map(str.strip, _STYLE_PAINT_PATTERN.findall(style)):
        if not _PERMITTED_PAINT_PATTERN.fullmatch(paint):
            yield f"has the colour {paint[:40]}: write #rrggbb, and an opacity apart"


def _iter_amount_errors(element_count: int, number_count: int, shape_count: int) -> Iterator[str]:
    """Yield the reasons why an SVG picture has too much, or nothing, to draw."""
    if element_count > SVG_ELEMENTS_MAX:
        yield f"has more than {SVG_ELEMENTS_MAX} elements"
    if number_count > _SVG_NUMBERS_MAX:
        yield f"has paths of more than {_SVG_NUMBERS_MAX:,} numbers"
    if not shape_count:
        yield "contains no shape"


def _iter_size_errors(root: Mapping[str, str]) -> Iterator[str]:
    """Yield a reason if an SVG picture's width or height is zero or negative."""
    sides = (root.get(side, "1").strip() for side in ("width", "height"))
    if any(side.startswith("-") or not side.strip("0.") for side in sides):
        yield "its width and height must be above 0"


def _has_fractional_positions(gradient: Mapping[str, str]) -> bool:
    """Return whether an SVG gradient gives positions as fractions, which the screen would read as lengths."""
    if gradient.get("gradientUnits") == "userSpaceOnUse":
        return False
    positions = (gradient.get(key, "0").strip() for key in _GRADIENT_POSITION_ATTRIBUTES)
    return any(position.strip("0.") and not position.endswith("%") for position in positions)


def _has_outside_links(attributes: Mapping[str, str]) -> bool:
    """Return whether an SVG element refers to anything outside its file."""
    links = [value for key, value in attributes.items() if key.rpartition("}")[2].lower() in _LINK_ATTRIBUTES]
    return not all(value.startswith("#") for value in links)


def _find_sound_error(file_bytes: bytes, suffix: str) -> str:
    """Return why these bytes are not an acceptable sound, or an empty string if they are."""
    if len(file_bytes) > SOUND_BYTES_MAX:
        return f"a sound has at most {SOUND_BYTES_MAX:,} bytes; it has {len(file_bytes):,}"
    if suffix != ".wav":
        return "a sound is a WAV file (.wav)"
    try:
        with wave.open(io.BytesIO(file_bytes)) as file:
            wave_format = (file.getnchannels(), file.getsampwidth(), file.getframerate())
            frame_count = len(file.readframes(SOUND_SAMPLES_PER_SECOND * (SOUND_SECONDS_MAX + 1))) // 2
    except (wave.Error, EOFError, ValueError, ArithmeticError) as error:
        return f"is not a WAV file: {error}"
    if wave_format != (1, 2, SOUND_SAMPLES_PER_SECOND):
        channels, width, rate = wave_format
        return (
            f"has {channels} channel(s) of {8 * width} bits at {rate:,} Hz; "
            f"one of 16 at {SOUND_SAMPLES_PER_SECOND:,} is taken"
        )
    if not 0 < frame_count <= SOUND_SAMPLES_PER_SECOND * SOUND_SECONDS_MAX:
        return (
            f"sounds {frame_count / SOUND_SAMPLES_PER_SECOND:.1f} s;"
            f" above 0 and up to {SOUND_SECONDS_MAX} s are taken"
        )
    return ""


def read_samples(wave_file_bytes: bytes) -> bytes:
    """Return the audio samples in a WAV file that :func:`read_assets` has accepted."""
    with wave.open(io.BytesIO(wave_file_bytes)) as file:
        samples: bytes = file.readframes(SOUND_SAMPLES_PER_SECOND * SOUND_SECONDS_MAX)
        return samples
