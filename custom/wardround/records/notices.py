"""Sentences that whatever leaves the program must carry."""

RESEARCH_USE = "Research use; not a medical device."
