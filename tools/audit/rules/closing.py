"""The audit rules for the closing time of tables: who announces it, and how many more rounds a table may start.

:func:`check_table_is_open` is a check of the entry that starts a game.
"""

import zlib
from datetime import datetime
from typing import Final

from egm.features.closing import entries
from egm.people import Permission
from egm.play.definitions import build_stored_game
from egm.play.keys import PlayKey
from paytables import PaytableError
from tools.audit.rules.pattern import CheckContext, PatternMismatch
from tools.audit.rules.rule import AuditRule
from tools.audit.rules.shared_checks import check_signed_in_to_menu

#: The largest number of announced last rounds that a table may still start after its closing time
#: (Monaco arts. 5.1, 8.4, 9, 13.4; the French casino hold'em).
_LAST_ROUNDS_MAX: Final = 3
#: The storage key of the tables' closing.
_TABLES_CLOSING_KEY: Final = "tables_closing"


def check_table_is_open(context: CheckContext) -> None:
    """Check that the game does not start another round at a table that has closed.

    After the announced closing time, each table may start a fixed number of last rounds. A game on a table with
    standing bets may always start, so that they are decided. Raises :class:`PatternMismatch`.
    """
    announced_closing = context.stored_value_before(_TABLES_CLOSING_KEY)
    record = context.record
    if type(announced_closing) is not str or "bets" not in record.get("wager", {}).get("options", {}):
        return
    closing_time = datetime.fromisoformat(announced_closing)
    if context.entry.time_utc < closing_time:
        return
    digest = record["game"]["digest"]
    if not _is_table_game(context, digest):
        return
    table_value = context.stored_value_before(f"table:{digest}")
    if table_value is not None and table_value.get("staked"):
        return
    table_id, round_id = context.facts.identify_table_and_round(context.entry)
    last_round_ids = context.facts.rounds_since_closing.get(table_id, set())
    if round_id not in last_round_ids and len(last_round_ids) >= _LAST_ROUNDS_MAX:
        raise PatternMismatch(
            f"the game starts at {context.entry.time_utc.isoformat()}, "
            f"after the last {_LAST_ROUNDS_MAX} rounds of a "
            f"table that closed at {announced_closing}"
        )


def _is_table_game(context: CheckContext, digest: str) -> bool:
    """Return whether the game definition stored under this digest is a table game with betting spots.

    A wheel game of a slot machine takes several bets too, but has no betting spots. A definition that cannot be
    read gives False; another check reports it.
    """
    key = f"{PlayKey.GAME_DEFINITION}{digest}"
    stored_text = context.stored_value_after(key) or context.stored_value_before(key)
    try:
        return bool(build_stored_game(str(stored_text)).rules.list_spots())
    except (PaytableError, ValueError, zlib.error):
        return False


RULES: Final = (
    AuditRule(
        entry_declaration=entries.CLOSING_ANNOUNCED,
        record={"at": "$closing_time"},
        stored_after={_TABLES_CLOSING_KEY: "$closing_time"},
        permission=Permission.CONFIGURE,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.TABLES_OPENED,
        stored_before={_TABLES_CLOSING_KEY: "$closing_time_before:text"},
        stored_after={_TABLES_CLOSING_KEY: None},
        permission=Permission.CONFIGURE,
        extra_checks=(check_signed_in_to_menu,),
    ),
)
