"""Service pages of the operator's options that apply from the next start, and forms to change them."""

from dataclasses import dataclass, replace
from typing import Final

from egm.kernel.games import InstalledGames
from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageAction, PageRow, PageTable, ServicePage
from egm.people import Permission
from egm.staff.desk import MenuItem, MenuPage, OpenPage, PageResult, build_refusal
from egm.staff.forms import OPTION_FORM_BY_NAME
from egm.staff.options import AMOUNT_OPTIONS
from egm.staff.page_texts import (
    BACK_ACTION,
    build_column_titles,
    build_money_text,
    build_multilingual_text,
    build_plain_text,
    build_text,
    build_two_column_table,
)
from egm.staff.records import OperatorOptions
from egm.staff.service.form_filling import FormFillingPage


class OptionListPage(MenuPage):
    """Page of the operator's options: every installed game, and the minimum and maximum bet."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page with the options that apply from the next start.

        A game is marked if its denominations will change at the next start.
        """
        options = OperatorOptions.read_stored(machine)
        rows = []
        for game_id, admitted_cents in machine.component(InstalledGames).denominations_cents.items():
            offered_cents = options.list_denominations(game_id, admitted_cents)
            current_cents = machine.denominations_cents.get(game_id, ())
            rows.append(
                PageRow(
                    cells=(
                        build_multilingual_text(machine.component(InstalledGames).game_by_id[game_id].title),
                        build_plain_text(game_id),
                        build_text("service.test.on" if offered_cents else "service.test.off"),
                        # for a game that is switched off: the denominations that it could have
                        build_money_text(*(offered_cents or admitted_cents)),
                    ),
                    action=f"game:{game_id}",
                    icon="" if offered_cents == current_cents else "warning",
                )
            )
        amount_rows = []
        for option, amount_option in AMOUNT_OPTIONS.items():
            cents: int | None = getattr(options, f"{option}_cents")
            amount_rows.append(
                (
                    f"options.{option}",
                    build_money_text(
                        amount_option.read_profile_cents(machine.profile) if cents is None else cents
                    ),
                )
            )
        return ServicePage(
            id="",
            title=build_text("service.menu.options"),
            tables=(
                PageTable(
                    columns=build_column_titles("game", "id", "state", "denominations"), rows=tuple(rows)
                ),
                build_two_column_table(
                    (
                        *amount_rows,
                        ("options.when", build_text("service.options.next_start")),
                    )
                ),
            ),
            actions=(
                BACK_ACTION,
                *(
                    PageAction(id=option, label=build_text(f"service.options.{option}"))
                    for option in AMOUNT_OPTIONS
                ),
            ),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the options of a game, or the form of the minimum or maximum bet."""
        game_id = action.removeprefix("game:")
        if action.startswith("game:") and game_id in machine.component(InstalledGames).denominations_cents:
            return OpenPage(GameOptionsPage(game_id))
        return (
            OpenPage(FormFillingPage(OPTION_FORM_BY_NAME[action]))
            if action in AMOUNT_OPTIONS
            else build_refusal("not_offered")
        )


@dataclass(frozen=True, slots=True)
class GameOptionsPage(MenuPage):
    """Page of one game's options: its denominations, and the forms that switch the game or a denomination on or off."""

    game_id: str

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page with the game's denominations, and the forms that change its options."""
        options = OperatorOptions.read_stored(machine)
        admitted_cents = machine.component(InstalledGames).denominations_cents[self.game_id]
        offered_cents = options.denominations_cents.get(self.game_id, admitted_cents)
        rows = (
            (
                build_money_text(denomination_cents),
                build_text("service.test.on" if denomination_cents in offered_cents else "service.test.off"),
            )
            for denomination_cents in admitted_cents
        )
        return ServicePage(
            id="",
            title=build_multilingual_text(machine.component(InstalledGames).game_by_id[self.game_id].title),
            tables=(build_two_column_table(rows, build_text("service.column.denominations")),),
            actions=(
                BACK_ACTION,
                PageAction(id="game", label=build_text("service.options.game")),
                PageAction(id="denomination", label=build_text("service.options.denomination")),
            ),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the form that changes an option of the game."""
        if action not in {"game", "denomination"}:
            return build_refusal("not_offered")
        form = OPTION_FORM_BY_NAME[action]
        cents = tuple(
            str(cents) for cents in machine.component(InstalledGames).denominations_cents[self.game_id]
        )
        fields = tuple(
            replace(form_field, choices=cents) if form_field.name == "denomination_cents" else form_field
            for form_field in form.fields
        )
        return OpenPage(
            FormFillingPage(
                replace(form, fields=fields, preset_values={**form.preset_values, "game": self.game_id})
            )
        )


MENU_ITEMS: Final = (MenuItem("options", "games", Permission.CONFIGURE, OptionListPage),)
