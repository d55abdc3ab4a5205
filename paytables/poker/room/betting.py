"""The betting of one game of poker between players: whose turn it is, what they may do, and what each has bet.

This module does not know cards. A :class:`Betting` holds the players of one game in the order in which they act after
the first deal: the first seat left of the button first, the button last. Each player bets only the table stakes that
they had at the start (Québec by-law, s. 67.95).

A raise is at least as large as the last full bet or raise; at a fixed limit it completes the bet to the next multiple
of the limit. A smaller all-in raise does not reopen the betting: players who have acted since the last full bet or
raise may only call it or fold.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

#: Option: leave the game.
FOLD_OPTION: Final = "fold"
#: Option: pass without a bet.
CHECK_OPTION: Final = "check"
#: Option: match the bet.
CALL_OPTION: Final = "call"
#: Option: make the first bet.
BET_OPTION: Final = "bet"
#: Option: raise by the smallest amount.
RAISE_OPTION: Final = "raise"
#: Option: bet or raise half of the pot.
HALF_POT_OPTION: Final = "half-pot"
#: Option: bet or raise the pot.
POT_OPTION: Final = "pot"
#: Option: bet or raise the largest amount that is allowed.
MAX_BET_OPTION: Final = "most"
#: Option: bet all table stakes.
ALL_IN_OPTION: Final = "all-in"

#: The kind of a limit on bets and raises.
LimitKind = Literal["fixed", "spread", "pot", "none"]


@dataclass(frozen=True, slots=True)
class BetSizes:
    """The permitted sizes of bets and raises in one betting round, in credits."""

    limit_kind: LimitKind
    """The kind of limit, such as ``fixed`` or ``pot``."""
    bet_min: int
    """The smallest permitted bet or raise, in credits."""
    bet_max: int | None = None
    """The largest permitted bet or raise, in credits; None at a pot limit or no limit."""
    raises_max: int | None = None
    """The largest number of bets and raises in the betting round; None: no limit."""


@dataclass(slots=True)
class Player:
    """One player in a poker room game: the table stakes that they have not bet, and their bets."""

    seat: int
    unbet_credits: int
    """The table stakes that the player has not bet, in credits."""
    round_bet_credits: int = 0
    """The credits bet in the current betting round."""
    total_bet_credits: int = 0
    """The credits that the player has bet in the whole game, antes and blinds included."""
    is_folded: bool = False
    """Whether the player has folded."""
    has_acted: bool = False
    """Whether the player has acted since the last full bet or raise."""
    can_raise: bool = True
    """Whether the player may raise. A player who has acted may raise only after another player's full bet or raise."""

    @property
    def is_all_in(self) -> bool:
        """Return whether the player has bet all table stakes and not folded."""
        return not self.unbet_credits and not self.is_folded


@dataclass(slots=True)
class Betting:
    """The betting of one game. The players are in the order of the seats, the first one left of the button first."""

    players: Sequence[Player]
    """The players, the first seat left of the button first."""
    bet_sizes: BetSizes
    """The permitted sizes of bets and raises in the current betting round."""
    call_level_credits: int = 0
    """The credits that a player must have bet in this betting round to stay in the game."""
    last_raise_credits: int = 0
    """The size of the last full bet or raise: the next one is at least as large."""
    raise_count: int = 0
    """The number of bets and raises in this betting round."""
    last_bettor_seat: int | None = None
    """The seat of the player who made the last bet or raise of the game, forced bets included (s. 67.102)."""
    next_player_index: int = field(default=0)
    """The index of the player to act next; players who cannot act are skipped."""

    # ------------------------------------------------------------------ the state
    @property
    def unfolded_players(self) -> list[Player]:
        """Return the players who have not folded."""
        return [player for player in self.players if not player.is_folded]

    @property
    def pot(self) -> int:
        """Return all credits bet in the game so far."""
        return sum(player.total_bet_credits for player in self.players)

    def find_next_player(self) -> Player | None:
        """Return the player whose turn it is, or None if the betting round is over."""
        unfolded_players = self.unfolded_players
        if len(unfolded_players) < 2:
            return None
        for n in range(len(self.players)):
            player = self.players[(self.next_player_index + n) % len(self.players)]
            if player.is_folded or not player.unbet_credits:
                continue
            if player.round_bet_credits < self.call_level_credits or (
                not player.has_acted and self._can_others_bet(player)
            ):
                return player
        return None

    def _can_others_bet(self, player: Player) -> bool:
        """Return whether another player who has not folded has table stakes left."""
        return any(other.unbet_credits for other in self.unfolded_players if other is not player)

    # ------------------------------------------------------------------ forced bets, betting rounds
    def start_round(self, bet_sizes: BetSizes, first_player_index: int) -> None:
        """Start a betting round with bets of these ``bet_sizes``.

        The player with the index ``first_player_index`` acts first or, if that player cannot act, the next one who can.
        """
        self.bet_sizes, self.next_player_index = bet_sizes, first_player_index
        self.call_level_credits, self.last_raise_credits, self.raise_count = 0, bet_sizes.bet_min, 0
        for player in self.players:
            player.round_bet_credits, player.has_acted, player.can_raise = 0, False, True

    def post_ante(self, credits_: int) -> None:
        """Take an ante from each player. Antes do not count as bets of a betting round."""
        for player in self.players:
            ante = min(credits_, player.unbet_credits)
            player.unbet_credits -= ante
            player.total_bet_credits += ante

    def post_forced_bet(self, player_index: int, credits_: int) -> None:
        """Take a blind or forced bet from a player.

        The others must call the full bet even if the player has less.
        """
        self._bet_credits(self.players[player_index], min(credits_, self.players[player_index].unbet_credits))
        self.call_level_credits = max(self.call_level_credits, credits_)
        self.last_bettor_seat = self.players[player_index].seat

    # ------------------------------------------------------------------ what a player may do
    def list_options(self, player: Player) -> dict[str, int]:
        """Return the player's options, each with the credits that it moves from the table stakes into the pot.

        The first option costs nothing: to check if there is nothing to call, otherwise to fold.
        """
        owed_credits = self.call_level_credits - player.round_bet_credits
        options = (
            {FOLD_OPTION: 0, CALL_OPTION: min(owed_credits, player.unbet_credits)}
            if owed_credits
            else {CHECK_OPTION: 0}
        )
        is_capped = self.bet_sizes.raises_max is not None and self.raise_count >= self.bet_sizes.raises_max
        if (
            player.unbet_credits > owed_credits
            and player.can_raise
            and not is_capped
            and self._can_others_bet(player)
        ):
            options |= self._list_raises(player, owed_credits)
        return options

    def _list_raises(self, player: Player, owed_credits: int) -> dict[str, int]:
        """Return the player's possible bets or raises with their cost in credits, smallest first.

        A size is the amount of the raise above the call. ``owed_credits`` is the amount needed to call. If two sizes
        lead to the same amount, only one option is offered.
        """
        bet_sizes, pot_after_call = self.bet_sizes, self.pot + owed_credits
        raise_min = self._find_raise_min()
        option_by_size = {raise_min: BET_OPTION if not self.call_level_credits else RAISE_OPTION}
        raise_max = raise_min
        if bet_sizes.limit_kind == "spread":
            raise_max = max(raise_min, bet_sizes.bet_max or raise_min)
            option_by_size.setdefault(raise_max, MAX_BET_OPTION)
        elif bet_sizes.limit_kind in {"pot", "none"}:
            # -(-x // 2) is half of x, rounded up
            for size, option in ((-(-pot_after_call // 2), HALF_POT_OPTION), (pot_after_call, POT_OPTION)):
                if size > raise_min:
                    option_by_size.setdefault(size, option)
            raise_max = (
                max(raise_min, pot_after_call) if bet_sizes.limit_kind == "pot" else player.unbet_credits
            )
        # what is left of the table stakes after a call: a raise by all of it is the all-in option
        credits_after_call = player.unbet_credits - owed_credits
        affordable_option_by_size = {
            size: option for size, option in option_by_size.items() if size < credits_after_call
        }
        if credits_after_call <= raise_max or bet_sizes.limit_kind == "none":
            affordable_option_by_size[credits_after_call] = ALL_IN_OPTION
        return {option: owed_credits + size for size, option in sorted(affordable_option_by_size.items())}

    def _find_raise_min(self) -> int:
        """Return the smallest amount, in credits, by which a bet or raise must exceed the current bet."""
        if self.bet_sizes.limit_kind == "fixed":
            return self.bet_sizes.bet_min - self.call_level_credits % self.bet_sizes.bet_min
        return max(self.last_raise_credits, self.bet_sizes.bet_min)

    # ------------------------------------------------------------------ what a player does
    def apply_option(self, player: Player, option: str) -> int:
        """Carry out one of the player's options (:meth:`list_options`); return the credits put into the pot."""
        credits_, raise_min = self.list_options(player)[option], self._find_raise_min()
        player.has_acted, player.can_raise = True, False
        player.is_folded = option == FOLD_OPTION
        self._bet_credits(player, credits_)
        self.next_player_index = (self.players.index(player) + 1) % len(self.players)
        raise_credits = player.round_bet_credits - self.call_level_credits
        if raise_credits > 0:
            self.call_level_credits, self.last_bettor_seat = player.round_bet_credits, player.seat
            if raise_credits >= raise_min:
                self._reopen_raising(player, raise_credits)
        return credits_

    def _reopen_raising(self, player: Player, raised_credits: int) -> None:
        """Let every other player raise again, because ``player`` made a full bet or raise."""
        self.last_raise_credits, self.raise_count = raised_credits, self.raise_count + 1
        for other_player in self.players:
            if other_player is not player:
                other_player.can_raise, other_player.has_acted = True, False

    def _bet_credits(self, player: Player, credits_: int) -> None:
        """Move credits of a player from the table stakes into the pot."""
        player.unbet_credits -= credits_
        player.round_bet_credits += credits_
        player.total_bet_credits += credits_

    def return_uncalled_bet(self) -> tuple[int, int]:
        """Refund the part of the last bet that no player has called; return the bettor's seat and the credits."""
        *_, second_highest_player, highest_player = sorted(
            self.players, key=lambda player: player.total_bet_credits
        )
        uncalled_credits = highest_player.total_bet_credits - second_highest_player.total_bet_credits
        highest_player.total_bet_credits -= uncalled_credits
        highest_player.unbet_credits += uncalled_credits
        return highest_player.seat, uncalled_credits
