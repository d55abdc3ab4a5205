"""Reports for a GAT verifier, as text and as XML; the same result always gives the same bytes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree as ET

from egm.links.gat.codec import ReportFormat
from egm.links.gat.functions import SpecialFunction

#: The first line of every XML report.
_XML_DECLARATION: Final = b"<?xml version='1.0' encoding='UTF-8'?>\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportIdentity:
    """The identity of the machine, as GAT reports state it.

    The list of the software states all these values; the report of signatures states only the name and the
    manufacturer.
    """

    name: str
    manufacturer: str
    version: str
    serial: str


def build_functions_report(functions: tuple[SpecialFunction, ...], report_format: ReportFormat) -> bytes:
    """Return the report of the special functions that a verifier may request."""
    if report_format is ReportFormat.TEXT:
        return _encode_text(
            line
            for function in functions
            for line in (
                f"Feature: {function.name}",
                *(f" Parameter: {parameter}" for parameter in function.parameters),
            )
        )
    root = ET.Element("SpecialFunctions")
    for function in functions:
        function_element = ET.SubElement(root, "Function")
        ET.SubElement(function_element, "Feature").text = function.name
        for parameter in function.parameters:
            ET.SubElement(function_element, "Parameter").text = parameter
    return _encode_xml(root)


def build_signatures_report(
    identity: ReportIdentity,
    algorithm: str,
    signature_by_component: Mapping[str, str],
    report_format: ReportFormat,
) -> bytes:
    """Return the report of each component's signature, in capital hexadecimal digits."""
    if report_format is ReportFormat.TEXT:
        return _encode_text(
            (
                *_format_head_lines(identity),
                f"Algorithm: {algorithm}",
                *_format_component_lines(signature_by_component),
            )
        )
    root = ET.Element("Components", GatExec="default")
    game_element = _add_game_element(root, identity)
    for name, signature in signature_by_component.items():
        component_element = ET.SubElement(game_element, "Component")
        ET.SubElement(component_element, "Name").text = name
        ET.SubElement(component_element, "Checksum", Algorithm=algorithm).text = signature.upper()
    return _encode_xml(root)


def build_software_list_report(
    identity: ReportIdentity, signer: str, digest_by_component: Mapping[str, str], report_format: ReportFormat
) -> bytes:
    """Return the report of the machine and its installed software: the digest of each component.

    ``signer`` is who signed the components; "" if nobody has.
    """
    if report_format is ReportFormat.TEXT:
        signer_text = signer or "nobody: a development installation"
        lines = (f"Version: {identity.version}", f"Serial: {identity.serial}", f"Signed by: {signer_text}")
        return _encode_text(
            (*_format_head_lines(identity), *lines, *_format_component_lines(digest_by_component))
        )
    root = ET.Element("ProgramID")
    game_element = _add_game_element(root, identity)
    for name, value in (("Version", identity.version), ("Serial", identity.serial), ("SignedBy", signer)):
        ET.SubElement(game_element, name).text = value
    for name, digest in digest_by_component.items():
        component_element = ET.SubElement(game_element, "Component")
        ET.SubElement(component_element, "Name").text = name
        ET.SubElement(component_element, "Checksum", Algorithm="sha256").text = digest.upper()
    return _encode_xml(root)


def _add_game_element(root: ET.Element, identity: ReportIdentity) -> ET.Element:
    """Add the XML element with the machine's name and manufacturer to the report's ``root``, and return it."""
    game_element = ET.SubElement(root, "Game")  # GAT's name for the machine
    ET.SubElement(game_element, "Name").text = identity.name
    ET.SubElement(game_element, "Manufacturer").text = identity.manufacturer
    return game_element


def _format_head_lines(identity: ReportIdentity) -> tuple[str, str]:
    """Return the first two lines of a text report: the machine's name and its manufacturer."""
    return f"Name: {identity.name}", f"Manufacturer: {identity.manufacturer}"


def _format_component_lines(value_by_component: Mapping[str, str]) -> tuple[str, ...]:
    """Return one text line per component: its name, then its signature or digest in capital hexadecimal digits."""
    return tuple(f"{component}: {value.upper()}" for component, value in value_by_component.items())


def _encode_text(lines: Iterable[str]) -> bytes:
    """Return the lines of a text report as bytes."""
    return "".join(f"{line}\r\n" for line in lines).encode()


def _encode_xml(root: ET.Element) -> bytes:
    """Return an XML report as bytes."""
    return _XML_DECLARATION + ET.tostring(root, encoding="unicode").encode()
