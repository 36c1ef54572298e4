"""Judges of the virtual broker."""
