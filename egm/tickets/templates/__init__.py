"""Ticket templates: one TOML file for each jurisdiction, and the loader, which refuses unlawful templates."""

from egm.tickets.templates.template import (
    DOTS_PER_MM,
    MANDATORY_FIELDS_BY_CLASS,
    TICKET_HEIGHT_MM,
    TICKET_WIDTH_MM,
    CageAction,
    CageRules,
    TemplateLine,
    TicketClass,
    TicketTemplate,
    list_template_ids,
    load_template,
)

__all__ = [
    "DOTS_PER_MM",
    "MANDATORY_FIELDS_BY_CLASS",
    "TICKET_HEIGHT_MM",
    "TICKET_WIDTH_MM",
    "CageAction",
    "CageRules",
    "TemplateLine",
    "TicketClass",
    "TicketTemplate",
    "list_template_ids",
    "load_template",
]
