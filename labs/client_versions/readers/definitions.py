"""Message definitions in Kafka's grammar, which Kafka's jar and kafka-python carry."""

from __future__ import annotations

from harness.codec.definition import parse_definition
from harness.codec.errors import DefinitionError
from harness.codec.versions import VersionRange
from labs.client_versions.source_text import Sources
from labs.client_versions.version_table import ReadError


def defined_requests(sources: Sources) -> dict[str, tuple[int, VersionRange]]:
    """Name of a request -> its API key and stable versions; those without a version left out.

    Raises ReadError for a file that is no definition.
    """
    found = {}
    for path, text in sources.items():
        try:
            spec = parse_definition(text, path)
        except DefinitionError as problem:
            raise ReadError(str(problem)) from problem
        highest = spec.valid.highest - spec.unstable_highest
        stable = VersionRange(spec.valid.lowest, highest)
        if spec.api_key is not None and stable:
            found[spec.name] = (spec.api_key, stable)
    return found
