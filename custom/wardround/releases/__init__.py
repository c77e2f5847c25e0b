"""Turning a run into a release: criteria, signed folders, and which release is the current one."""
