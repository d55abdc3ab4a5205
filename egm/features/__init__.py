"""The features that no other folder builds on, one folder each: closing of tables, memory clear, tournaments."""
