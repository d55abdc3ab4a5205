"""The metrics of a machine in a test: the attachment, and what its snapshot shows."""

from egm.app.view import build_snapshot
from egm.config.cabinet_file import MetricsTable, StateFolder, load_cabinet
from egm.kernel.services import MachineContext
from egm.links import monitoring


def start_monitoring(rig, folder, printed, port=0):
    file = load_cabinet().model_copy(update={"metrics": MetricsTable(port=port)})
    state_folder = StateFolder(folder)
    state_folder.create_private_folders()
    [found] = monitoring.create_metrics_service(
        MachineContext(
            rig.engine, file, state_folder, rig.clock, rig.submit_event, print_message=printed.append
        )
    )
    return found


def read_snapshot(rig):
    return build_snapshot(rig.engine)
