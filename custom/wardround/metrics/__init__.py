"""How predictions are scored: pure functions of arrays and numbers."""
