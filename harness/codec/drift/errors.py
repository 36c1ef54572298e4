"""What makes a comparison impossible, as an exception whose text says what to do."""


class DriftError(Exception):
    """There is nothing to compare with: no jar, no definitions in it, no release; or a bad list."""
