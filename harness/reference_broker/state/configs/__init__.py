"""Configurations that clients see and change, by the kind of what they belong to."""
