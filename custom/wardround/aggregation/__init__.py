"""How the server combines updates: pure functions of named tensors."""
