"""Check, predict, limit and certify as one result."""
