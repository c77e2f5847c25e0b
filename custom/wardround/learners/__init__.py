"""One site's training in PyTorch: no FLARE, no hospital."""
