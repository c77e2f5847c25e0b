"""Plain data that crosses layers and sites: no torch, no FLARE, no input or output of patient data."""
