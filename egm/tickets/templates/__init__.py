"""Ticket templates: one TOML file per jurisdiction, and the loader that refuses what the law forbids."""

from egm.tickets.templates.template import (
    DOTS_PER_MM,
    HEIGHT_MM,
    MANDATORY,
    WIDTH_MM,
    CageAct,
    CageRules,
    Line,
    Template,
    TicketClass,
    list_template_ids,
    load_template,
)

__all__ = [
    "DOTS_PER_MM",
    "HEIGHT_MM",
    "MANDATORY",
    "WIDTH_MM",
    "CageAct",
    "CageRules",
    "Line",
    "Template",
    "TicketClass",
    "list_template_ids",
    "load_template",
]
