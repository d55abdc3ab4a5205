"""The generator as a laboratory tests it: bulk draws, final outcomes, the battery, the report and evidence."""
