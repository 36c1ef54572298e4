"""Unmodified clients of other projects: a process for each, and one protocol for all of them."""
