"""``egm progressive``: commands for the status of a link, its signs, held claims and payments, and mystery prizes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click

from egm.config.cabinet_file import find_default_state_folder
from egm.people import Permission
from egm.progressive.trigger import MysteryTrigger
from egm.record_codec import to_json
from tools.cli.printed_text import REASON_TYPE
from tools.cli.staff import authenticate_for, load_roster
from tools.cli.tables import (
    BAD_STYLE,
    GOOD_STYLE,
    Column,
    Columns,
    OutputFormat,
    Table,
    add_format_options,
    build_number_column,
    show,
)
from tools.cli.terminal import echo
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.held_messages import RULING_AWARD, RULING_DECLINE, find_held_message_to_rule_on
from tools.floor.progressive.signs import read_signs
from tools.floor.progressive.store_option import STORE_OPTION, open_controller

#: Kinds of event that staff should investigate.
_EVENT_KINDS_TO_INVESTIGATE = (
    "refused",
    "forged",
    "misunderstood",
    "dropped",
    "commit_differs",
    "paid_otherwise",
    "payment_held",
    "late_hit",
    "ruled",
    "went_back",
)


@click.command()
@STORE_OPTION
@add_format_options
def status(*, store: str | None, output_format: OutputFormat) -> None:
    """Show the link's status: its controller's last write, its machines, its signs, rejected messages.

    The last message of a machine is its last request for its levels: it sends one at every connection, and with
    each wager that plays for one. `never` means that it has not connected yet, or has no linked level. The exit
    status is 1 if a sign is dark or not reporting (Québec by-law, s.91).
    """
    with open_controller(store, read_only=True) as controller:
        link_status = _read_status(controller)
    sign_rows = (
        (
            sign["id"],
            sign["status"],
            sign["since"][:19],
            sign["heard_at"][:19],
            [level for level, cents in sign["shown"].items() if cents is None],
        )
        for sign in link_status["signs"]
    )
    status_column = Column("status", choose_style=lambda status: GOOD_STYLE if status == "lit" else BAD_STYLE)
    introduction = (
        f"the controller last wrote at {link_status['alive_at'][:19]}"
        if link_status["alive_at"]
        else "no controller has written to this store yet"
    )
    machine_table = Table(
        ("machine", Column("last message", "last_heard"), "levels"),
        (
            (machine["id"], (machine["heard_at"] or "never")[:19], machine["levels"])
            for machine in link_status["machines"]
        ),
        empty_text="no machine may enrol",
    )
    event_counts_text = "\n".join(f"{kind}: {count}" for kind, count in link_status["troubles"].items())
    sign_table = Table(
        ("sign", status_column, "since", Column("last message", "last_heard"), "levels not shown"),
        sign_rows,
        empty_text="no sign",
    )
    show(
        output_format,
        machine_table,
        sign_table,
        document=link_status,
        text_before=introduction,
        text_after=event_counts_text,
    )
    raise SystemExit(1 if any(sign["status"] != "lit" for sign in link_status["signs"]) else 0)


def _read_status(controller: Controller) -> dict[str, Any]:
    """Return the status of the progressive link as JSON data."""
    with controller.open_read_session() as session:
        count_by_kind = Counter(
            event.kind for event in session.read_events() if event.kind in _EVENT_KINDS_TO_INVESTIGATE
        )
        message_times = session.read_message_times()
        return {
            "alive_at": max((amount.time_text for amount in session.list_daily_amounts()), default=None),
            "levels": {record.id: record.level.shown_cents for record in session.read_levels()},
            "machines": [
                {
                    "id": machine_id,
                    "heard_at": message_times.get(machine_id),
                    "levels": session.list_enrolled_levels(machine_id),
                }
                for machine_id in session.list_machines()
            ],
            "signs": [to_json(sign) for sign in read_signs(session)],
            "troubles": dict(count_by_kind),
        }


@click.command("forget-sign")
@click.argument("sign")
@STORE_OPTION
def forget_sign(sign: str, store: str | None) -> None:
    """Remove SIGN from the list of signs that must report to the controller."""
    with open_controller(store) as controller:
        controller.forget_sign(sign)
    echo(f"{sign} need not report any more")


@click.command()
@STORE_OPTION
@add_format_options
def held(*, store: str | None, output_format: OutputFormat) -> None:
    """List the implausible claims of hits and the payments that the controller holds, and the rulings on them.

    A claim is held if the machine has hit more often than chance explains. A payment (CLAIM/payment) is held
    if it is not between the award and the amount that the machine showed. Until a ruling, the level pays only
    the award, and the operator bears the difference.
    """
    with open_controller(store, read_only=True) as controller, controller.open_read_session() as session:
        held_claims = [to_json(claim) for claim in session.list_held_messages()]
    columns: Columns = (
        "claim",
        Column("held", "held_at"),
        Column("because", "why"),
        "ruling",
        Column("by", "persons"),
        "reason",
    )
    rows = (
        [claim[key] for key in ("claim", "held_at", "why", "ruling", "persons", "reason")]
        for claim in held_claims
    )
    show(output_format, Table(columns, rows, empty_text="no claim or payment was held"), document=held_claims)


@click.command()
@click.argument("claim")
@click.argument("ruling", type=click.Choice((RULING_AWARD, RULING_DECLINE)))
@click.option("--person", required=True, help="Your staff number.")
@click.option(
    "--second-person",
    "--second",
    "second_person",
    metavar="NUMBER",
    required=True,
    help="The second person's staff number.",
)
@click.option("--reason", type=REASON_TYPE, required=True, help="The reason; it is recorded.")
@click.option(
    "--state",
    "state_folder",
    type=click.Path(path_type=Path),
    help="The state folder in which the staff is enrolled (`egm people`).",
)
@STORE_OPTION
def rule(
    claim: str,
    ruling: str,
    person: str,
    second_person: str,
    reason: str,
    state_folder: Path | None,
    store: str | None,
) -> None:
    """Rule on a held CLAIM or payment; two enrolled people sign.

    For a claim: award gives it the amount that the level shows; decline gives it nothing.

    For a payment: after award the level bears it; after decline the operator bears the difference.
    """
    with open_controller(store, read_only=True) as controller, controller.open_read_session() as session:
        find_held_message_to_rule_on(session, claim)
    roster = load_roster(state_folder or find_default_state_folder())
    persons = tuple(
        authenticate_for(roster, number, Permission.RULE_ON_MONEY).id for number in (person, second_person)
    )
    with open_controller(store) as controller:
        controller.rule_on_held_message(claim, ruling, persons, reason)
    echo(f"{claim}: {ruling}")


@click.command()
@STORE_OPTION
@add_format_options
def prizes(*, store: str | None, output_format: OutputFormat) -> None:
    """List every mystery prize: its commitment and, once won, its secret and the wager that reached it.

    Each is verified first: the secret matches its commitment, and no earlier wager reached it.
    """
    with open_controller(store, read_only=True) as controller:
        controller.verify_levels()
        with controller.open_read_session() as session:
            prize_rows = [
                json.loads(prize.to_text())
                for record in session.read_levels()
                for prize in session.read_prizes(record.id)
            ]
    for prize in prize_rows:
        del prize["sealed"]
    columns: Columns = (
        "level",
        build_number_column("no.", "number"),
        Column("opened", "opened_at"),
        "commitment",
        "secret",
        build_number_column("after contributions"),
        Column("won as", "claim"),
    )
    rows = (
        (
            prize["level"],
            prize["number"],
            prize["opened_at"][:19],
            prize["commitment"],
            "sealed" if (secret := prize["trigger"]) is None else _format_secret_amount(secret),
            None if secret is None else prize["turns"] - prize["turns_before"],
            prize["claim"],
        )
        for prize in prize_rows
    )
    show(output_format, Table(columns, rows, empty_text="no mystery prize"), document=prize_rows)


def _format_secret_amount(secret: dict[str, Any]) -> str:
    """Return the amount at which a mystery prize was won, as text."""
    return f"{float(MysteryTrigger.from_json(secret).trigger_amount):.4f}"
