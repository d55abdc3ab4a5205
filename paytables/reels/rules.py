"""The rules of one reel game: its wagers, and how its stages start one another in play."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from paytables.analysis import Analysis, Depth
from paytables.contract import Choice, Decision, Draw, Json, Outcome, Play, Wager, Win
from paytables.errors import WagerError
from paytables.reels import figures, present
from paytables.reels.automaton import Award
from paytables.reels.build import Builder
from paytables.reels.schema import Mode, ReelsDefinition
from paytables.reels.stage import Hit, Reels


@dataclass(slots=True)
class Series:
    """Runs of one stage that belong together, as ten free games do."""

    stage: str
    left: int
    played: int = 0


@dataclass(slots=True)
class Tally:
    """What one game has come to so far."""

    level: int
    wins: list[Win] = field(default_factory=list)
    progressives: list[str] = field(default_factory=list)
    merchandise: list[str] = field(default_factory=list)
    steps: list[dict[str, Json]] = field(default_factory=list)

    @property
    def credits(self) -> int:
        """Credits won so far."""
        return sum(win.credits for win in self.wins)


@dataclass(frozen=True)
class ReelRules:
    """A reel game made playable: every stage for every mode."""

    definition: ReelsDefinition
    modes: Mapping[str, Mode]
    stages: Mapping[str, Mapping[str, Reels]]
    builder: Builder

    @cached_property
    def bet_options(self) -> tuple[int, ...]:
        """Every total bet, in credits, ascending."""
        return tuple(sorted({m.cost * n for m in self.modes.values() for n in self.definition.bets.levels}))

    def wager(self, credits_: int, **options: Json) -> Wager:
        """Return the wager of ``credits_``: the mode and level named, or the first that costs that much."""
        unknown = set(options) - {"mode", "level"}
        if unknown:
            raise WagerError(f"a reel game takes mode and level, not {', '.join(sorted(unknown))}")
        for mode in self.modes.values():
            for level in self.definition.bets.levels:
                if (
                    mode.cost * level == credits_
                    and options.get("mode", mode.id) == mode.id
                    and options.get("level", level) == level
                ):
                    return Wager(credits_, {"mode": mode.id, "level": level})
        asked = "".join(f", {k} {v}" for k, v in sorted(options.items()))
        raise WagerError(f"no bet of {credits_} credits{asked}; the game offers {list(self.bet_options)}")

    def play(self, wager: Wager, draw: Draw) -> Play:
        """Play one game: the wager's first stage, then whatever it gives, the latest series first."""
        accepted = self.wager(wager.credits, **wager.options)
        mode = self.modes[accepted.options["mode"]]
        tally = Tally(level=accepted.options["level"])
        pending = [Series(mode.stage, 1)]
        while pending:
            series = pending[-1]
            if series.left == 0:
                pending.pop()
                continue
            series.left -= 1
            series.played += 1
            awards = yield from self._run(self.stages[mode.id][series.stage], series, draw, tally)
            self._give(awards, series, pending, tally)
        return self._outcome(tally)

    def _run(
        self, reels: Reels, series: Series, draw: Draw, tally: Tally
    ) -> Generator[Decision, Choice, list[Award]]:
        stops = reels.spin(draw)
        _, hits = reels.evaluate_stops(stops)
        step = len(tally.steps)
        factor = reels.multiplier * tally.level
        wins = [self._win(reels, stops, hit, factor, step) for hit in hits]
        tally.wins += [w for w in wins if w.credits]
        tally.steps.append(
            {
                "stage": reels.name,
                "run": series.played,
                "left": series.left,
                "stops": list(stops),
                "window": self._ids(reels.shown(stops)),
                "evaluated": self._ids(reels.window(stops)),
                "wins": [w.to_json() for w in wins],
                "credits": sum(w.credits for w in wins),
            }
        )
        yield from ()
        return [award for hit in hits if hit.end.prize for award in hit.end.prize.awards]

    def _give(self, awards: list[Award], series: Series, pending: list[Series], tally: Tally) -> None:
        given = []
        for award in awards:
            given.append({"kind": award.kind, "name": award.name, "times": award.times})
            if award.kind == "progressive":
                tally.progressives.append(award.name)
            elif award.kind == "merchandise":
                tally.merchandise.append(award.name)
            elif award.name == series.stage:
                series.left += award.times
            else:
                pending.append(Series(award.name, award.times))
        tally.steps[-1]["awards"] = given

    def _win(self, reels: Reels, stops: tuple[int, ...], hit: Hit, factor: int, step: int) -> Win:
        assert hit.end.prize is not None  # only components that won make a hit
        detail: dict[str, Json] = {
            "on": hit.component.kind,
            "number": hit.component.number,
            "positions": present.positions(reels, stops, hit),
            "multiplier": hit.end.multiplier * reels.multiplier,
            "step": step,
        }
        if hit.component.kind == "ways":
            detail["ways"] = hit.ways
        return Win(hit.end.prize.name, hit.credits * factor, detail)

    def _ids(self, window: tuple[tuple[int, ...], ...]) -> list[list[str]]:
        return [[self.builder.symbols.ids[s] for s in column] for column in window]

    @staticmethod
    def _outcome(tally: Tally) -> Outcome:
        first = tally.steps[0]
        display = {
            "stops": first["stops"],
            "window": first["window"],
            "wins": first["wins"],
            "credits": tally.credits,
            "steps": tally.steps,
        }
        return Outcome(
            win_credits=tally.credits,
            wins=tuple(tally.wins),
            progressives=tuple(tally.progressives),
            merchandise=tuple(tally.merchandise),
            display=display,
        )

    def presentation(self) -> dict[str, Json]:
        """Return strips, window, symbols, lines and pays as the screen draws them."""
        return present.presentation(self.definition, self.modes, self.stages, self.builder.symbols.ids)

    def analyse(self, depth: Depth) -> Analysis:
        """Return the exact figures of every mode."""
        return figures.analyse(self.definition, self.modes, self.stages, depth)
