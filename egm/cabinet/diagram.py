"""The state table as a picture."""

from egm.cabinet.events import Next, State
from egm.cabinet.states import FACTS, OWN


def mermaid() -> str:
    """The table as a Mermaid state diagram, for ARCHITECTURE.md; facts that change no state are left out."""
    lines = ["stateDiagram-v2", "    state standing <<choice>>", "    [*] --> boot"]
    arrows: dict[tuple[str, str], list[str]] = {}
    for row in OWN:
        if row.next is Next.SAME:
            continue
        target = "standing" if row.next is Next.DERIVED else str(row.next)
        label = row.event.value + (f" [{', '.join(row.guards)}]" if row.guards else "")
        labels = arrows.setdefault((str(row.state), target), [])
        if label not in labels:
            labels.append(label)
    for (source, target), labels in arrows.items():
        lines.append(f"    {source} --> {target}: {'<br/>'.join(labels)}")
    facts = "<br/>".join(event.value for event, _, next_ in FACTS if next_ is Next.DERIVED)
    lines.append(f"    any --> standing: {facts}")
    lines.extend(
        f"    standing --> {state}"
        for state in (
            State.DOOR_OPEN,
            State.TILT,
            State.HANDPAY,
            State.SERVICE_MENU,
            State.PAYING,
            State.AWAITING_AWARD,
            State.PLAYING,
            State.OUT_OF_SERVICE,
            State.LOCKED,
            State.IDLE,
        )
    )
    return "\n".join(lines)
