"""The operator's and the service manual, written from the tables the machine itself obeys.

Nothing about a fault, an event, a menu or a form is told here: what stands in ``meters.events``, the forms,
the menu and the roles is printed, in the catalogues' words; so a manual cannot say what the machine does not.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from egm.app.features import MENU
from egm.kernel.faults import fault
from egm.people import Permission
from egm.people.roles import Role, permissions_of
from egm.screen.text import Texts, read_catalogue
from egm.staff.interventions import COVERED
from egm.staff.service.menu import SUBJECTS
from meters.events import EVENTS, Clear, Effect, Significant

AUDIENCES: Final = ("operator", "service")
_FAULT: Final = "fault.raised:"


def manual(audience: str, language: str) -> str:
    """One Markdown page for ``operator`` or ``service``, in a language of the screen."""
    texts = Texts(language)

    def say(key: str, **values: str) -> str:
        return texts.say(f"manual.{key}", **values)

    parts = [f"# {say(f'title.{audience}')}", say(f"about.{audience}")]
    parts += [
        f"## {say('faults')}",
        say("faults_about"),
        *_table(texts, ("code", "shown", "effect", "clears"), _faults(texts)),
    ]
    parts += [f"## {say('roles')}", *_table(texts, ("permission", "roles"), _roles(texts))]
    parts += [f"## {say('menu')}", *_table(texts, ("section", "entry", "roles"), _menu(texts))]
    parts += [f"## {say('forms')}", *_table(texts, ("form", "fields", "persons", "roles"), _forms(texts))]
    parts += [f"## {say('denomination')}", *_steps(say("denomination_steps", **_needs(texts)))]
    parts += [f"## {say('memory')}", *_steps(say("memory_steps", roles=_who(texts, Permission.CLEAR_MEMORY)))]
    if audience == "service":
        parts += [f"## {say('doors')}", *_table(texts, ("kind", "doors_covered"), _doors(texts))]
        parts += [f"## {say('events')}", *_table(texts, ("event", "effect", "clears", "sas"), _events(texts))]
    return "\n\n".join(parts) + "\n"


def codes() -> list[str]:
    """Every fault the machine has words for, ``device.code``; and those its table of events names."""
    known = (key.removeprefix("tilt.text.") for key in read_catalogue("en") if key.startswith("tilt.text."))
    named = (line.pattern.removeprefix(_FAULT) for line in EVENTS if line.pattern.startswith(_FAULT))
    return sorted(
        {*(code for code in known if code != "other"), *(code for code in named if "*" not in code)}
    )


def _faults(texts: Texts) -> Iterator[tuple[str, ...]]:
    for code in codes():
        found = fault(code)
        shown = (
            texts.say(f"tilt.text.{code}") if texts.has(f"tilt.text.{code}") else texts.say("tilt.text.other")
        )
        effect = (
            "stop" if found.locks else "closes" if found.closes else "hampers" if found.hampers else "log"
        )
        yield code, shown, texts.say(f"manual.effect.{effect}"), texts.say(f"tilt.cleared_{found.cleared_by}")


def _events(texts: Texts) -> Iterator[tuple[str, ...]]:
    for line in EVENTS:
        yield (
            line.pattern,
            _effect(texts, line),
            _clear(texts, line),
            "-" if line.sas is None else f"{line.sas:02X}",
        )


def _effect(texts: Texts, line: Significant) -> str:
    return texts.say(f"manual.effect.{_EFFECTS[line.effect]}")


def _clear(texts: Texts, line: Significant) -> str:
    return "-" if line.clear is Clear.NOTHING else texts.say(f"tilt.cleared_{_CLEARS[line.clear]}")


_EFFECTS: Final = {
    Effect.LOG: "log",
    Effect.STOP: "stop",
    Effect.HARD_STOP: "stop",
    Effect.ACCEPTOR_OFF: "hampers",
    Effect.PAYOUT_OFF: "hampers",
    Effect.LAMP: "lamp",
    Effect.OUT_OF_SERVICE: "closes",
    Effect.LOCK: "lock",
}
_CLEARS: Final = {
    Clear.ITSELF: "self",
    Clear.ATTENDANT: "attendant",
    Clear.TECHNICIAN: "technician",
    Clear.RULING: "ruling",
    Clear.MEMORY_CLEAR: "memory_clear",
}


def _who(texts: Texts, permission: Permission | None) -> str:
    roles = [role for role in Role if permission is None or permission in permissions_of(role)]
    return ", ".join(texts.say(f"manual.role.{role.value}") for role in roles)


def _roles(texts: Texts) -> Iterator[tuple[str, ...]]:
    for permission in Permission:
        yield permission.value, _who(texts, permission)


def _menu(texts: Texts) -> Iterator[tuple[str, ...]]:
    for section in SUBJECTS:
        for entry in MENU.pages_of(section):
            title = texts.say(f"service.menu.{entry.id}")
            yield texts.say(f"service.section.{section}"), title, _who(texts, entry.permission)


def _forms(texts: Texts) -> Iterator[tuple[str, ...]]:
    for form in MENU.forms:
        fields = (texts.say(f"form.{form.id}.{field.name}") for field in form.fields)
        yield (
            texts.say(f"form.{form.id}.title"),
            "; ".join(fields) or "-",
            str(form.persons),
            _who(texts, form.permission),
        )


def _doors(texts: Texts) -> Iterator[tuple[str, ...]]:
    for kind, doors in COVERED.items():
        yield texts.say(f"form.intervention.kind_{kind}"), ", ".join(sorted(doors))


def _needs(texts: Texts) -> dict[str, str]:
    """What the form of a denomination needs, in the menu's own words."""
    form = next(form for form in MENU.forms if form.id == "options_denomination")
    return {
        "menu": texts.say("service.menu.options"),
        "form": texts.say(f"form.{form.id}.title"),
        "roles": _who(texts, form.permission),
        "needs": "; ".join(texts.say(f"service.needs.{need.__name__}") for need in form.needs),
    }


def _steps(text: str) -> Iterator[str]:
    yield "\n".join(f"{n}. {line}" for n, line in enumerate(text.strip().splitlines(), 1))


def _table(texts: Texts, columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    heads = [texts.say(f"manual.column.{name}") for name in columns]
    lines = [heads, ["---"] * len(heads), *rows]
    yield "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
