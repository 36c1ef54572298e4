"""Faults that know frames: what they match, what they do, how often."""
