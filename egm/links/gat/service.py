"""GAT service: the machine's replies to a verifier, and the stored record of its last request.

The last request and its result are stored in the journal under :attr:`~egm.links.keys.LinksKey.LAST_GAT_CALCULATION`,
so that they survive a power loss (A-18). Each request and each result is a separate entry, because G2S requires such a
log of serial requests. A calculation that a power loss interrupted is restarted. A new request deletes the result of
the previous one, even if it is refused: a verifier that misses the refusal then reads an error, never the result of
another request.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from egm.integrity.keys import IntegrityKey
from egm.integrity.records import InstalledSoftware
from egm.kernel.machine import PositionMachine
from egm.links.entries import GAT_REQUEST, GAT_RESULT, GatCalculation, GatRequest, GatResult
from egm.links.gat import codec
from egm.links.gat.codec import (
    CalculationStatus,
    GatPacket,
    GatStatusQuery,
    InitiateCalculation,
    LastAuthenticationStatusQuery,
    ReportFormat,
    ResultsQuery,
)
from egm.links.gat.functions import (
    FunctionResultKind,
    SpecialFunctionError,
    SpecialFunctionRequest,
    list_offered_functions,
    parse_function_request,
)
from egm.links.gat.report import (
    ReportIdentity,
    build_functions_report,
    build_signatures_report,
    build_software_list_report,
)
from egm.links.keys import LinksKey

#: Seconds since the last authentication, as reported if there has been none.
_SECONDS_IF_NEVER_CALCULATED: Final = 0xFFFFFFFF
#: Name of the report's row that states who signed the software.
_SIGNER_ROW_NAME: Final = "signed by"


def _find_calculation_status(calculation: GatCalculation) -> CalculationStatus:
    """Return the progress of a signature calculation, as GAT's status reply encodes it."""
    if not calculation.finished_time:
        return CalculationStatus.CALCULATING
    return CalculationStatus.ERROR if calculation.failure_reason else CalculationStatus.FINISHED


class GatService:
    """The machine's replies to one GAT verifier, and the record of the last signature calculation.

    ``start_signing`` starts a calculation of signatures, which later calls :meth:`store_result` or
    :meth:`store_failure`; a list of functions or of the software is stored at once.
    ``cancel_signing`` stops the current calculation; then neither method is called for it.
    """

    def __init__(
        self,
        machine: PositionMachine,
        identity: ReportIdentity,
        components: frozenset[str],
        start_signing: Callable[[SpecialFunctionRequest], None],
        cancel_signing: Callable[[], None],
    ) -> None:
        self._machine = machine
        self._identity = identity
        self._components = components
        self._start_signing = start_signing
        self._cancel_signing = cancel_signing

    def resume_interrupted_calculation(self) -> None:
        """Restart the signature calculation that a power loss interrupted, if there is one."""
        calculation = self._last_calculation
        if calculation is None or calculation.finished_time:
            return
        try:
            parsed_request = parse_function_request(calculation.parameters, self._components)
        except SpecialFunctionError as error:  # another release of the software may lack the function
            self.store_failure(str(error))
        else:
            self._calculate(parsed_request)

    def build_reply(self, packet: GatPacket) -> GatPacket:
        """Return the reply to a GAT verifier's packet; a request for a calculation also starts it.

        Raises ProtocolError for a packet that gets no reply.
        """
        match codec.decode_request(packet):
            case GatStatusQuery():
                calculation = self._last_calculation
                if calculation is None:
                    return codec.encode_status_reply(CalculationStatus.REQUESTED, has_results=False)
                calculation_status = _find_calculation_status(calculation)
                return codec.encode_status_reply(
                    calculation_status, has_results=calculation_status is CalculationStatus.FINISHED
                )
            case LastAuthenticationStatusQuery():
                return self._build_last_status_reply()
            case ResultsQuery(report_format, frame_number):
                return self._build_results_reply(report_format, frame_number)
            case InitiateCalculation() as request:
                return codec.encode_initiated_reply(has_started=self._start_calculation(request))

    # ------------------------------------------------------------------ a calculation
    def _start_calculation(self, request: InitiateCalculation) -> bool:
        """Start the requested signature calculation; return whether the request was valid.

        The current calculation is stopped and the last results are deleted, even if the request is not valid.
        """
        self._cancel_signing()
        try:
            parsed_request = parse_function_request(request.parameters, self._components)
        except SpecialFunctionError as error:
            self._record_request(request, None, refusal_reason=str(error))
            return False
        self._record_request(request, parsed_request)
        self._calculate(parsed_request)
        return True

    def _calculate(self, parsed_request: SpecialFunctionRequest) -> None:
        """Start the calculation of the requested signatures.

        If no signatures are requested, store the digests of the installed software as the result at once.
        """
        if parsed_request.result_kind is FunctionResultKind.SIGNATURES:
            self._start_signing(parsed_request)
            return
        installed_software = self._machine.memory.read(InstalledSoftware, IntegrityKey.INSTALLED_SOFTWARE)
        result_by_component = (
            {}
            if installed_software is None
            else {_SIGNER_ROW_NAME: installed_software.signer, **installed_software.components}
        )
        self.store_result(result_by_component)

    def _record_request(
        self,
        request: InitiateCalculation,
        parsed_request: SpecialFunctionRequest | None,
        refusal_reason: str = "",
    ) -> None:
        """Record a request for a calculation; ``refusal_reason`` is the reason if the request is refused, otherwise "".

        ``parsed_request`` is the decoded request, None if it is refused.
        """
        self._machine.post(
            GAT_REQUEST,
            GatRequest(
                parameters=request.parameters,
                authentication_level=request.authentication_level,
                refusal_reason=refusal_reason,
            ),
            state={
                LinksKey.LAST_GAT_CALCULATION: GatCalculation(
                    parameters=request.parameters,
                    authentication_level=request.authentication_level,
                    result_kind="" if parsed_request is None else parsed_request.result_kind.value,
                    algorithm=""
                    if parsed_request is None or parsed_request.algorithm is None
                    else parsed_request.algorithm.value,
                    finished_time=self._format_current_time() if refusal_reason else "",
                    result_by_component={},
                    failure_reason=refusal_reason,
                )
            },
        )

    def store_result(self, result_by_component: Mapping[str, str]) -> None:
        """Record the result of the last calculation: the signatures or, in a list of the software, the digests."""
        calculation = self._machine.memory.require(GatCalculation, LinksKey.LAST_GAT_CALCULATION)
        self._record_end(replace(calculation, result_by_component=result_by_component))

    def store_failure(self, reason: str) -> None:
        """Record that the last signature calculation failed, and why."""
        calculation = self._machine.memory.require(GatCalculation, LinksKey.LAST_GAT_CALCULATION)
        self._record_end(replace(calculation, failure_reason=reason))

    def _record_end(self, calculation: GatCalculation) -> None:
        """Record the end of a signature calculation, which has its results or the reason for its failure."""
        self._machine.post(
            GAT_RESULT,
            GatResult(
                parameters=calculation.parameters,
                algorithm=calculation.algorithm,
                result_by_component=calculation.result_by_component,
                failure_reason=calculation.failure_reason,
            ),
            state={
                LinksKey.LAST_GAT_CALCULATION: replace(calculation, finished_time=self._format_current_time())
            },
        )

    def _format_current_time(self) -> str:
        return self._machine.clock.now().isoformat(timespec="seconds")

    # ------------------------------------------------------------------ the stored calculation
    @property
    def _last_calculation(self) -> GatCalculation | None:
        """Return the last signature calculation that a GAT verifier requested, or None if there was none."""
        return self._machine.memory.read(GatCalculation, LinksKey.LAST_GAT_CALCULATION)

    def _build_last_status_reply(self) -> GatPacket:
        """Return the reply with the level of the last signature calculation and how long ago it ended."""
        calculation = self._last_calculation
        if calculation is None or not calculation.result_kind or not calculation.finished_time:
            return codec.encode_last_status_reply(0, _SECONDS_IF_NEVER_CALCULATED)
        time_since_end = self._machine.clock.now() - datetime.fromisoformat(calculation.finished_time)
        return codec.encode_last_status_reply(
            calculation.authentication_level, int(time_since_end.total_seconds())
        )

    def _build_results_reply(self, report_format: int, frame_number: int) -> GatPacket:
        """Return the reply with frame number ``frame_number`` of the last results, as text or XML (``report_format``).

        A frame is a part of the report that fits into one packet. The reply says if there are no results.
        """
        calculation = self._last_calculation
        is_known_format = report_format in set(ReportFormat)
        if (
            calculation is None
            or not is_known_format
            or _find_calculation_status(calculation) is not CalculationStatus.FINISHED
        ):
            return codec.encode_no_results_reply(frame_number)
        report = self._build_report(calculation, ReportFormat(report_format))
        start_offset = (frame_number - 1) * codec.RESULTS_DATA_BYTES_PER_FRAME_MAX
        data = (
            report[start_offset : start_offset + codec.RESULTS_DATA_BYTES_PER_FRAME_MAX]
            if frame_number
            else b""
        )
        if not data:
            return codec.encode_no_results_reply(frame_number)
        return codec.encode_results_reply(data, frame_number, is_last=start_offset + len(data) == len(report))

    def _build_report(self, calculation: GatCalculation, report_format: ReportFormat) -> bytes:
        """Return the results of a signature calculation as a report in the requested GAT format."""
        if calculation.result_kind == FunctionResultKind.FUNCTION_LIST:
            return build_functions_report(list_offered_functions(self._components), report_format)
        if calculation.result_kind == FunctionResultKind.SOFTWARE_LIST:
            digest_by_component = dict(calculation.result_by_component)
            return build_software_list_report(
                self._identity,
                digest_by_component.pop(_SIGNER_ROW_NAME, ""),
                digest_by_component,
                report_format,
            )
        return build_signatures_report(
            self._identity, calculation.algorithm, calculation.result_by_component, report_format
        )
