"""ROM signature poll: a two-byte signature of the whole software under the host's seed.

A machine of several hundred files has no ROM to sum up, so the signature is a CRC over the keyed digests of
its components, in the order of their names: it changes with any byte of any file, and with the seed. It takes
seconds, in a low-priority process, and answers a later general poll.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from egm.config.sas_line import SasPollGroup
from egm.devices.crc import compute_crc_kermit
from egm.errors import LocalError
from egm.links.entries import ROM_SIGNATURE_FAILED, RomSignatureFailed
from egm.links.sas.codec import ACK, Reply, encode_binary
from egm.links.sas.host import SasHost
from egm.links.sas.poll import ONE_BYTE_REPLY_SIZE, PollImplementation
from egm.links.sas.wire import LongPoll
from egm.verify.digest import SignatureAlgorithm
from egm.verify.examine import compute_signatures_in_child_process
from egm.verify.own_files import list_own_definition_files
from egm.verify.software_files import SoftwareScope, list_components

#: Command code of the ROM signature poll.
_ROM_SIGNATURE_POLL: Final = 0x21
#: Key in :attr:`SasHost.values_between_polls`; the value is the background task that computes the signature.
_RUNNING_TASK_KEY: Final = "rom_signature"


async def compute_rom_signature(scope: SoftwareScope, seed: bytes) -> int:
    """Return the two-byte signature of the software under the host's two-byte ``seed``.

    Raises LocalError if it cannot be computed.
    """
    components = tuple(sorted(list_components(scope)))
    signature_by_component = await compute_signatures_in_child_process(
        scope, SignatureAlgorithm.SHA1_HMAC, seed, components
    )
    return compute_crc_kermit("".join(signature_by_component[name] for name in components).encode("ascii"))


def send_rom_signature(host: SasHost, request: LongPoll) -> Reply:
    """Answer poll 21: acknowledge it and start to compute the ROM signature, which a later general poll returns.

    A repeated request during the calculation restarts it with the new seed.
    """
    running_task: asyncio.Task[None] | None = host.values_between_polls.get(_RUNNING_TASK_KEY)
    if running_task is not None:
        running_task.cancel()
    host.values_between_polls[_RUNNING_TASK_KEY] = asyncio.get_running_loop().create_task(
        _deliver_rom_signature(host, request.data)
    )
    return ACK


async def _deliver_rom_signature(host: SasHost, seed: bytes) -> None:
    """Compute the ROM signature, and queue it as the delayed reply to the host's request; record a failure."""
    try:
        signature = await compute_rom_signature(
            SoftwareScope(cabinet_definitions=list_own_definition_files(host.context.cabinet_file)), seed
        )
    except LocalError as error:
        host.machine.post(ROM_SIGNATURE_FAILED, RomSignatureFailed(host_name=host.name, reason=str(error)))
        return
    host.deliver_delayed_result(
        _ROM_SIGNATURE_POLL, Reply(encode_binary(signature, 2), is_resent_on_repeat=True)
    )


POLL_IMPLEMENTATIONS: Final[Sequence[PollImplementation]] = (
    PollImplementation(
        code=_ROM_SIGNATURE_POLL,
        reply_size_bytes=ONE_BYTE_REPLY_SIZE,
        effect_function=send_rom_signature,
        group=SasPollGroup.ROM_SIGNATURE,
    ),
)
