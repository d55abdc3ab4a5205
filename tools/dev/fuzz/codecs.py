"""An atheris target for every codec: any bytes decode to messages or named errors, in one piece or in parts.

Run it with ``pip install 'open-egm[fuzz]'`` and ``python -m tools.dev.fuzz.codecs [libFuzzer options]``, for
example ``-max_total_time=600``. The first byte chooses the codec, the second how many bytes are fed at once.
"""

import sys

from tools.dev.fuzz.codec_table import CODECS, feed_codec

_CODEC_NAMES = sorted(CODECS)


class CodecDisagreesError(AssertionError):
    """Raised if the same bytes gave different messages when they arrived in different portions."""


def run_fuzz_input(data: bytes) -> None:
    """Feed one fuzzer input to a codec; raise an error if the codec does anything that it may not do."""
    if len(data) < 2:
        return
    name = _CODEC_NAMES[data[0] % len(_CODEC_NAMES)]
    payload = data[2:]
    in_one_piece = feed_codec(name, payload, step=max(len(payload), 1))
    in_parts = feed_codec(name, payload, step=data[1] % 7 + 1)
    if in_one_piece != in_parts:
        raise CodecDisagreesError(f"{name}: {in_one_piece} and, in pieces, {in_parts}")


def main() -> None:
    """Fuzz until stopped."""
    import atheris  # noqa: PLC0415 (an optional package that nothing else needs)

    atheris.instrument_all()
    atheris.Setup(sys.argv, run_fuzz_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
