"""Motion as pure functions of time: easing, the travel of a reel, the roll-up of a win."""

import math
from dataclasses import dataclass

from egm.screen.theme import MotionSettings

#: Seconds in which a reel reaches full speed.
_REEL_RUN_UP_SECONDS = 0.28
#: Cells by which a reel moves back before it starts.
_DRAW_BACK_CELLS = 0.28
#: Cells by which a reel runs past its stop at most, before it returns.
_OVERSHOOT_CELLS = 0.30


def clamp_to_unit_interval(value: float) -> float:
    """Return the value, limited to the range 0 to 1."""
    return max(0.0, min(1.0, value))


def ease_out(time_fraction: float) -> float:
    """Return the progress (0 to 1) of a movement that starts fast and slows down.

    ``time_fraction`` is the fraction of the movement's time that has passed.
    """
    return 1 - (1 - clamp_to_unit_interval(time_fraction)) ** 3


def ease_in_out(time_fraction: float) -> float:
    """Return the progress (0 to 1) of a movement that is slow at its start and at its end.

    ``time_fraction`` is the fraction of the movement's time that has passed.
    """
    t = clamp_to_unit_interval(time_fraction)
    return t * t * (3 - 2 * t)


def compute_pulse(now: float, hertz: float) -> float:
    """Return the brightness (0 to 1) of a smoothly pulsing light at the time ``now``, in seconds."""
    return 0.5 - 0.5 * math.cos(now * hertz * math.tau)


@dataclass(frozen=True, slots=True)
class ReelTravel:
    """The movement of one reel in a spin.

    Positions are cells of the reel strip. Symbols move down, so the position decreases, by a whole number of cells.
    """

    start_position: int
    """The strip position before the spin."""
    target_position: int
    """The strip position at which the reel stops."""
    strip_length: int
    """The number of cells of the strip."""
    stop_seconds: float
    """When the reel stops, in seconds from the start of the spin."""

    def count_cells_to_travel(self, motion: MotionSettings) -> int:
        """Return how many cells the reel moves to reach ``target_position``, at least one.

        The number of whole turns of the strip is chosen so that the speed is as near as possible to the theme's full
        speed.
        """
        cells_at_full_speed = motion.reel_cells_per_second * max(
            0.1, self.stop_seconds - motion.reel_draw_back_seconds - _REEL_RUN_UP_SECONDS / 2
        )
        direct_cells = (self.start_position - self.target_position) % self.strip_length
        return (
            direct_cells
            + max(0, round((cells_at_full_speed - direct_cells) / self.strip_length)) * self.strip_length
        ) or self.strip_length

    def find_position(self, elapsed_seconds: float, motion: MotionSettings) -> float:
        """Return the strip position (in cells) at the top of the window, ``elapsed_seconds`` into the spin."""
        if elapsed_seconds <= 0:
            return float(self.start_position)
        if elapsed_seconds < motion.reel_draw_back_seconds:
            return self.start_position + _DRAW_BACK_CELLS * math.sin(
                elapsed_seconds / motion.reel_draw_back_seconds * math.pi / 2
            )
        running_seconds = self.stop_seconds - motion.reel_draw_back_seconds
        total_cells = self.count_cells_to_travel(motion) + _DRAW_BACK_CELLS
        speed = total_cells / (running_seconds - _REEL_RUN_UP_SECONDS / 2)
        running_elapsed_seconds = elapsed_seconds - motion.reel_draw_back_seconds
        if running_elapsed_seconds < running_seconds:
            # constant acceleration, then constant speed
            travelled_cells = (
                speed * running_elapsed_seconds * running_elapsed_seconds / (2 * _REEL_RUN_UP_SECONDS)
                if running_elapsed_seconds < _REEL_RUN_UP_SECONDS
                else speed * (running_elapsed_seconds - _REEL_RUN_UP_SECONDS / 2)
            )
            return self.start_position + _DRAW_BACK_CELLS - travelled_cells
        return self.target_position - self._compute_overshoot(
            (elapsed_seconds - self.stop_seconds) / motion.reel_settle_seconds
        )

    def compute_speed(self, elapsed_seconds: float, motion: MotionSettings) -> float:
        """Return the reel's speed ``elapsed_seconds`` into the spin, in cells per second, for the motion blur."""
        step = 1 / 120
        return (
            abs(
                self.find_position(elapsed_seconds + step, motion)
                - self.find_position(elapsed_seconds, motion)
            )
            / step
        )

    @staticmethod
    def _compute_overshoot(time_fraction: float) -> float:
        """Return how many cells the reel is past its stop; negative if it has swung back too far.

        ``time_fraction`` is the fraction of its settling time that has passed.
        """
        return (
            0.0
            if time_fraction >= 1
            else _OVERSHOOT_CELLS * math.sin(time_fraction * math.pi * 1.6) * (1 - time_fraction) ** 1.5
        )


def compute_roll_up_amount(amount: int, elapsed_seconds: float, duration_seconds: float) -> int:
    """Return the amount that a roll-up shows ``elapsed_seconds`` after its start.

    The roll-up counts from 0 to ``amount`` within ``duration_seconds``; the result is a whole number.
    """
    if duration_seconds <= 0 or elapsed_seconds >= duration_seconds:
        return amount
    thousandths = int(ease_in_out(elapsed_seconds / duration_seconds) * 1000)
    return amount * thousandths // 1000
