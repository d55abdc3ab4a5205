"""First start: what a machine without a cabinet file asks the persons before it, and the file they sign."""
