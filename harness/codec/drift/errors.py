"""The error that makes a comparison impossible; its text states what to do."""


class DriftError(Exception):
    """There is nothing to compare with: no jar, no definitions in it, no release; or a bad list."""
