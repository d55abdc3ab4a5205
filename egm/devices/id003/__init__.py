"""JCM ID-003 bill acceptors."""
