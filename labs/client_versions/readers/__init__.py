"""Readers of version tables, one for each kind; each yields pieces of :mod:`version_table`."""
