"""The generator as a laboratory tests it: bulk draws, outcomes, the battery, the report and its evidence."""
