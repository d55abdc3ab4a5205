"""Configuration: the cabinet file, its schema, and what is wrong in one."""
