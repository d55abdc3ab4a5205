"""Table of the special functions that a GAT verifier may request from the machine.

``Get Special Functions`` lists the other functions with their parameters. A parameter between ``%%`` is entered by the
person at the verifier. ``Component`` signs one software component; ``Get File AuthenticationResponse.xml`` signs all of
them. Both use HMAC-SHA-1 with the entered seed as key. The functions with ``SHA-256`` or ``SHA256`` in their name are
not part of GAT: they do the same with HMAC-SHA-256. ``Get File ProgramID.xml`` lists the installed software; its layout
is not public, so this project defines it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from egm.errors import OperatorError
from egm.verify.digest import SignatureAlgorithm, read_seed
from egm.verify.software_files import PATH_PREFIXES_BY_COMPONENT

#: Name of the special function that lists all others.
GET_SPECIAL_FUNCTIONS: Final = "Get Special Functions"
#: Name of the file that lists the installed software.
PROGRAM_ID_FILE_NAME: Final = "ProgramID.xml"


class SpecialFunctionError(OperatorError):
    """Raised if a verifier has requested an unknown special function, or one with an invalid parameter."""


class FunctionResultKind(StrEnum):
    """The kind of result of a GAT special function: list of functions, list of the software, or signatures."""

    FUNCTION_LIST = "list"
    SOFTWARE_LIST = "identity"  # the content of ProgramID.xml
    SIGNATURES = "signatures"


@dataclass(frozen=True, slots=True)
class SpecialFunctionRequest:
    """A special function that a verifier has requested, with its decoded parameters.

    ``seed`` is the key of the signatures. ``components`` are the software components to sign; empty means
    all.
    """

    result_kind: FunctionResultKind
    algorithm: SignatureAlgorithm | None = None
    seed: bytes = b""
    components: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpecialFunction:
    """A GAT special function (a calculation that a verifier may request): its name, fixed parameter and result."""

    name: str
    """The name of the special function, the first parameter of the verifier's request, such as "Get File"."""
    fixed_parameter: str
    """The fixed parameter after the name, such as a file's or a component's name."""
    result_kind: FunctionResultKind
    algorithm: SignatureAlgorithm | None = None
    components: tuple[str, ...] = ()
    """The software components to sign; empty means all."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the parameters as listed for the verifier: the fixed one, then the placeholder for a seed, if any.

        Only a function that computes signatures has a seed.
        """
        return (
            self.fixed_parameter,
            *([] if self.algorithm is None else [_PLACEHOLDER_BY_ALGORITHM[self.algorithm]]),
        )


#: The placeholder for a seed in the list of functions, by algorithm; the person at the verifier enters the seed.
_PLACEHOLDER_BY_ALGORITHM: Final = {
    SignatureAlgorithm.SHA1_HMAC: "%%SHA1_HMAC%%",
    SignatureAlgorithm.SHA256_HMAC: "%%SHA256_HMAC%%",
}


def _build_signature_function(component: str, algorithm: SignatureAlgorithm) -> SpecialFunction:
    """Return the special function that computes the signature of one software component."""
    name = "Component" if algorithm is SignatureAlgorithm.SHA1_HMAC else "Component SHA-256"
    return SpecialFunction(name, component, FunctionResultKind.SIGNATURES, algorithm, (component,))


#: The functions that a verifier may request in addition to the list itself.
SPECIAL_FUNCTIONS: Final = (
    SpecialFunction("Get File", PROGRAM_ID_FILE_NAME, FunctionResultKind.SOFTWARE_LIST),
    SpecialFunction(
        "Get File", "AuthenticationResponse.xml", FunctionResultKind.SIGNATURES, SignatureAlgorithm.SHA1_HMAC
    ),
    SpecialFunction(
        "Get File",
        "AuthenticationResponse-SHA256.xml",
        FunctionResultKind.SIGNATURES,
        SignatureAlgorithm.SHA256_HMAC,
    ),
    *(
        _build_signature_function(component, algorithm)
        for algorithm in (SignatureAlgorithm.SHA1_HMAC, SignatureAlgorithm.SHA256_HMAC)
        for component in sorted(PATH_PREFIXES_BY_COMPONENT)
    ),
)


def list_offered_functions(components: frozenset[str]) -> tuple[SpecialFunction, ...]:
    """Return the special functions that a machine with these software components offers to a verifier."""
    return tuple(function for function in SPECIAL_FUNCTIONS if components.issuperset(function.components))


def parse_function_request(parameters: tuple[str, ...], components: frozenset[str]) -> SpecialFunctionRequest:
    """Decode the parameters of a verifier's request for a special function. Raises :class:`SpecialFunctionError`.

    ``components`` are the names of the machine's software components. Without a seed, signatures are computed with an
    empty key.
    """
    if parameters[0] == GET_SPECIAL_FUNCTIONS:
        _check_parameter_count_max(parameters, 1)
        return SpecialFunctionRequest(FunctionResultKind.FUNCTION_LIST)
    for function in list_offered_functions(components):
        if parameters[:2] == (function.name, function.fixed_parameter):
            break
    else:
        raise SpecialFunctionError(f"there is no special function {' '.join(parameters[:2])!r}")
    if function.algorithm is None:
        _check_parameter_count_max(parameters, 2)
        return SpecialFunctionRequest(function.result_kind)
    _check_parameter_count_max(parameters, 3)
    try:
        seed = read_seed("".join(parameters[2:]))  # "" if the request has no seed
    except OperatorError as error:
        raise SpecialFunctionError(f"{' '.join(parameters[:2])}: {error}") from None
    return SpecialFunctionRequest(function.result_kind, function.algorithm, seed, function.components)


def _check_parameter_count_max(parameters: tuple[str, ...], count_max: int) -> None:
    """Raise SpecialFunctionError if the request has more than ``count_max`` parameters, the name included."""
    if len(parameters) > count_max:
        raise SpecialFunctionError(
            f"{parameters[0]}: expected at most {count_max - 1} parameters, received {len(parameters) - 1}"
        )
