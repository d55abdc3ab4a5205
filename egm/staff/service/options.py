"""The operator's options at the machine: what is offered now, what will be offered, and the forms that change it."""

from dataclasses import dataclass, replace
from typing import Final

from egm.kernel.games import InstalledGames
from egm.kernel.machine import Machine
from egm.kernel.service_pages import PageAction, PageRow, PageTable, ServicePage
from egm.people import Permission
from egm.staff.desk import MenuEntry, MenuPage, Move, OpenPage, refuse
from egm.staff.forms import OPTION_FORMS
from egm.staff.options import AMOUNT_OPTIONS
from egm.staff.records import OperatorOptions
from egm.staff.service.filling import FormFillingPage
from egm.staff.words import (
    BACK,
    build_column_titles,
    build_pair_table,
    say,
    say_local,
    say_money,
    say_plain,
)


class OptionListPage(MenuPage):
    """Page of the operator's options: every approved game, and the minimum and maximum bet."""

    def build_page(self, machine: Machine) -> ServicePage:
        """Return the page with the options as they will be from the next start on."""
        options = OperatorOptions.read_stored(machine)
        rows = []
        for game_id, admitted in machine.component(InstalledGames).denominations_cents.items():
            offered_cents = options.list_denominations(game_id, admitted)
            current_cents = machine.denominations_cents.get(game_id, ())
            rows.append(
                PageRow(
                    cells=(
                        say_local(machine.component(InstalledGames).games[game_id].title),
                        say_plain(game_id),
                        say("service.test.on" if offered_cents else "service.test.off"),
                        say_money(*(offered_cents or admitted)),
                    ),
                    action=f"game:{game_id}",
                    icon="" if offered_cents == current_cents else "warning",
                )
            )
        amounts = []
        for option, amount in AMOUNT_OPTIONS.items():
            cents: int | None = getattr(options, f"{option}_cents")
            amounts.append(
                (
                    f"options.{option}",
                    say_money(amount.read_profile_cents(machine.profile) if cents is None else cents),
                )
            )
        return ServicePage(
            id="",
            title=say("service.menu.options"),
            tables=(
                PageTable(
                    columns=build_column_titles("game", "id", "state", "denominations"), rows=tuple(rows)
                ),
                build_pair_table(
                    (
                        *amounts,
                        ("options.when", say("service.options.next_start")),
                    )
                ),
            ),
            actions=(
                BACK,
                *(PageAction(id=option, label=say(f"service.options.{option}")) for option in AMOUNT_OPTIONS),
            ),
        )

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (signature of a menu page)
        """Open the options of a game, or the form of a bet limit."""
        game_id = action.removeprefix("game:")
        if action.startswith("game:") and game_id in machine.component(InstalledGames).denominations_cents:
            return OpenPage(GameOptionsPage(game_id))
        return (
            OpenPage(FormFillingPage(OPTION_FORMS[action]))
            if action in AMOUNT_OPTIONS
            else refuse("not_offered")
        )


@dataclass(frozen=True, slots=True)
class GameOptionsPage(MenuPage):
    """Page of the options of one game: on or off, and each of its denominations."""

    game_id: str

    def build_page(self, machine: Machine) -> ServicePage:
        """Return the page with the game's denominations, and the forms that change its options."""
        options, admitted = (
            OperatorOptions.read_stored(machine),
            machine.component(InstalledGames).denominations_cents[self.game_id],
        )
        offered_cents = options.denominations_cents.get(self.game_id, admitted)
        rows = (
            (say_money(c), say("service.test.on" if c in offered_cents else "service.test.off"))
            for c in admitted
        )
        return ServicePage(
            id="",
            title=say_local(machine.component(InstalledGames).games[self.game_id].title),
            tables=(build_pair_table(rows, say("service.column.denominations")),),
            actions=(
                BACK,
                PageAction(id="game", label=say("service.options.game")),
                PageAction(id="denomination", label=say("service.options.denomination")),
            ),
        )

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (signature of a menu page)
        """Open the form that changes an option of the game."""
        if action not in {"game", "denomination"}:
            return refuse("not_offered")
        form = OPTION_FORMS[action]
        cents = tuple(
            str(cents) for cents in machine.component(InstalledGames).denominations_cents[self.game_id]
        )
        fields = tuple(
            replace(entry, choices=cents) if entry.name == "denomination_cents" else entry
            for entry in form.fields
        )
        return OpenPage(
            FormFillingPage(replace(form, fields=fields, values={**form.values, "game": self.game_id}))
        )


PAGES: Final = (MenuEntry("options", "games", Permission.CONFIGURE, OptionListPage),)
