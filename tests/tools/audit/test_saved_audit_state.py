"""The format number of a saved audit state changes whenever the classes of the state change."""

import dataclasses
import hashlib

from journals import make_state

from meters import open_view
from tools.audit import saved_state
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

#: The format of saved states, and the digest of the classes in the state of the journal below.
FORMAT, LAYOUT = "open-egm verified point 26", "e818d1d6216871c4"


def list_attributes(thing):
    """Return the attributes of an object of this project, or None for any other object."""
    if isinstance(thing, GameFiles) or not type(thing).__module__.startswith(
        saved_state._PROJECT_MODULE_PREFIXES
    ):
        return None
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing)]
    return list(getattr(thing, "_fields", ())) or sorted(getattr(thing, "__dict__", ()))


def collect_layouts(thing, layouts, seen):
    """Collect the attributes of the class of every object of this project that ``thing`` refers to."""
    if id(thing) in seen or isinstance(thing, (type, str, bytes, int)):
        return
    seen[id(thing)] = thing
    attributes = list_attributes(thing)
    if attributes is not None:
        layouts[f"{type(thing).__module__}.{type(thing).__qualname__}"] = attributes
        parts = [getattr(thing, name) for name in attributes]
    elif isinstance(thing, dict):
        parts = [*thing, *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        parts = thing
    else:
        parts = ()
    for part in parts:
        collect_layouts(part, layouts, seen)


def test_the_saved_state_has_a_new_format_number_when_its_classes_change(tmp_path):
    """If this fails, raise the format number in tools/audit/saved_state.py, and write the number and the digest here.

    Otherwise a state of the old classes would be read into the new ones, and the audit would end with an error.
    """
    make_state(tmp_path / "state")
    with open_view(tmp_path / "state") as view:
        auditor = Auditor(GameFiles())
        assert not auditor.audit_entries(view.iter_bodies()).findings
    layouts = {}
    collect_layouts(vars(auditor), layouts, {})
    assert len(layouts) > 20
    listed = "\n".join(f"{name}: {', '.join(names)}" for name, names in sorted(layouts.items()))
    assert (saved_state._SAVED_STATE_FORMAT, hashlib.sha256(listed.encode()).hexdigest()[:16]) == (
        FORMAT,
        LAYOUT,
    )
