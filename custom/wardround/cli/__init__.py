"""The command line: commands, progress, tables."""
