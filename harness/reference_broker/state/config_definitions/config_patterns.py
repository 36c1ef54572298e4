"""The forms that texts of some configs must have, by the names that tables of configs use."""

from collections.abc import Mapping

# Pairs of partition and broker, or all of them by one star; items may be empty.
_PAIR = r"\s*([0-9]+:[0-9]+)?\s*"

# Releases with the inner numbers that they had under way (class ApiVersion). Of the default, only
# those of the releases that the broker can be like are right.
_OLD_FORMATS = (
    r"0\.(8\.[0-2]|9\.0|10\.0(-IV[01])?|10\.1(-IV[0-2])?|10\.2(-IV0)?|11\.0(-IV[0-2])?)(\..*)?"
)
_FORMATS_OF_2_8 = rf"{_OLD_FORMATS}|(1\.[01]|2\.[0-8])(-IV[0-2])?(\..*)?"

_DURATION = r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?"  # of ISO 8601, as Java reads it

PATTERNS: Mapping[str, str] = {
    "throttled replicas": rf"{_PAIR}(,{_PAIR})*|[\s,]*\*[\s,]*",
    "formats of 0.11": _OLD_FORMATS,
    "formats of 1.1": rf"{_OLD_FORMATS}|1\.[01](-IV0)?(\..*)?",
    "formats of 2.8": _FORMATS_OF_2_8,
    "formats of 3.9": rf"{_FORMATS_OF_2_8}|3\.[0-9](-IV[0-9]+)?(\..*)?",
    "offset reset": rf"(?i:earliest|latest)|by_duration:{_DURATION}",
}
