"""Malformed and extreme input: variations of valid messages, reproducible from a number."""

import copy
import json
import random

#: Texts that replace these strings in the JSON text, without quotation marks.
_RAW = {"@NaN": "NaN", "@Infinity": "Infinity", "@-Infinity": "-Infinity", "@digits": "9" * 5000}
_RAW |= {"@float": "1e400", "@deep": "[" * 2000 + "]" * 2000, "@wide": "[" + "0," * 3000 + "0]"}
EXTREMES = [
    *_RAW, None, True, False, -1, 0, 2**31, 2**63 - 1, 2**63, -(2**63), 10**30, 10**300, 0.5, -0.0, 1e308,
    "", " ", "x", "-1", "NaN", "9" * 600, "1/0", "9" * 2000 + "/7", "é" * 700, "\0", "\x1b[2J", "\ud800",
    "../../etc/passwd", "a" * 20_000, [], [[]], {}, {"": None}, [None] * 200,
]  # fmt: skip


def _iter_paths(value, path=()):
    """Yield the path of every value within a sample, as keys and indexes."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield from _iter_paths(inner, (*path, key))


def _change_value(dice, sample):
    path = dice.choice(list(_iter_paths(sample))[1:] or [()])
    if not path:
        return dice.choice(EXTREMES)
    sample = copy.deepcopy(sample)
    holder = sample
    for key in path[:-1]:
        holder = holder[key]
    match dice.randrange(5):
        case 0:
            del holder[path[-1]]
        case 1 if isinstance(holder, dict):
            holder[dice.choice(("", "x", "\0", "__class__", "é" * 300))] = dice.choice(EXTREMES)
        case _:
            holder[path[-1]] = dice.choice(EXTREMES)
    return sample


def _change_bytes(dice, data):
    """Return the message with some bytes changed, removed, repeated or added."""
    offset = dice.randrange(len(data) + 1)
    match dice.randrange(5):
        case 0:
            return data[:offset]
        case 1:
            return data[:offset] + bytes((dice.randrange(256),)) + data[offset + 1 :]
        case 2:
            return data[:offset] + data[offset:] * 2
        case 3:
            return data[:offset] + dice.randbytes(dice.randrange(1, 40)) + data[offset:]
    return dice.randbytes(dice.randrange(200))


def as_json(value):
    """Return the bytes of a JSON text, which may contain values that JSON does not allow."""
    text = json.dumps(value, ensure_ascii=True)
    for name, raw in _RAW.items():
        text = text.replace(f'"{name}"', raw)
    return text.encode()


def messages(samples, count):
    """Yield ``count`` malformed variations of ``samples``: of values and bytes for objects, of bytes for bytes."""
    for number in range(count):
        dice = random.Random(number)
        sample = dice.choice(samples)
        if isinstance(sample, bytes):
            yield _change_bytes(dice, sample)
            continue
        for _ in range(dice.choice((1, 1, 1, 2, 3))):
            sample = _change_value(dice, sample)
        data = as_json(sample)
        yield _change_bytes(dice, data) if dice.random() < 0.2 else data
