"""The errors of targets: exceptions with a text that names the remedy."""


class TargetError(Exception):
    """A target cannot be had: bad spec, no artifacts, no Java, no answer."""


class TargetStartError(TargetError):
    """A target was asked to start and does not answer."""


class MissingCapability(Exception):
    """A target does not let us do this; ``capability`` is the name of what it lacks."""

    def __init__(self, capability: str, spec: str) -> None:
        super().__init__(f"the target {spec!r} lacks the capability {capability!r}")
        self.capability = capability
        self.spec = spec
