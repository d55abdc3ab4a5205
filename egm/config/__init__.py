"""Configuration: the cabinet file, its schema, and its errors."""
