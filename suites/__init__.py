"""Judges brokers: one file per area, one area per requirement prefix."""
