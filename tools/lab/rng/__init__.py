"""Laboratory tests of the RNG: bulk draws, outcomes, the battery, the report and its evidence."""
