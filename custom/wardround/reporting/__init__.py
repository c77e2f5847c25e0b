"""Pages and tables made from the run record alone."""
