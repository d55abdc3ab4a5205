"""First start: the questions that a machine without a cabinet file asks, and the file that two people sign."""
