"""Thin FLARE classes over the learning layers. No maths here."""
