"""The metrics of a machine in a test: the attachment, and what its snapshot shows."""

from egm.app.view import snapshot
from egm.config.cabinet_file import Metrics, StateFolder, load_cabinet
from egm.kernel.services import MachineContext
from egm.links import monitoring


def monitored(room, folder, said, port=0):
    file = load_cabinet().model_copy(update={"metrics": Metrics(port=port)})
    at = StateFolder(folder)
    at.prepare()
    [found] = monitoring.create_exporter(
        MachineContext(room.engine, file, at, room.clock, room.happen, say=said.append)
    )
    return found


def shown(room):
    return snapshot(room.engine, fingerprint="")
