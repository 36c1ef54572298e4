"""The APIs: key, name, message classes, versions, and which header each version uses."""

from __future__ import annotations

from harness.codec.api_table import API_TABLE
from harness.codec.errors import UnknownApiError
from harness.codec.messages import message_class
from harness.codec.structs import Message
from harness.codec.versions import VersionRange

API_VERSIONS_KEY = 18
CONTROLLED_SHUTDOWN_KEY = 7


class Api:
    """One API of the protocol and every version of it that was ever released."""

    __slots__ = ("flexible_versions", "key", "name", "unstable_versions", "valid_versions")

    def __init__(
        self,
        key: int,
        name: str,
        valid_versions: VersionRange,
        flexible_versions: VersionRange,
        unstable_versions: VersionRange,
    ) -> None:
        self.key, self.name = key, name
        self.valid_versions, self.flexible_versions = valid_versions, flexible_versions
        self.unstable_versions = unstable_versions  # advertised only by a broker that enables them

    def __repr__(self) -> str:
        return f"Api({self.key}, {self.name!r}, {self.valid_versions})"

    @property
    def request(self) -> type[Message]:
        """The class of its requests; the definition is read when first asked for."""
        return message_class(f"{self.name}Request")

    @property
    def response(self) -> type[Message]:
        """The class of its responses."""
        return message_class(f"{self.name}Response")

    def request_header_version(self, version: int) -> int:
        """2 when flexible, else 1; ControlledShutdown v0 alone has 0 (it has no client id)."""
        if self.key == CONTROLLED_SHUTDOWN_KEY and version == 0:
            return 0
        return 2 if version in self.flexible_versions else 1

    def response_header_version(self, version: int) -> int:
        """1 when flexible, else 0; ApiVersions always 0: any client can read it (KIP-511)."""
        if self.key == API_VERSIONS_KEY:
            return 0
        return 1 if version in self.flexible_versions else 0


def _api(key: int, name: str, valid: str, flexible: str, unstable: str) -> Api:
    ranges = (VersionRange.parse(text) for text in (valid, flexible, unstable))
    return Api(key, name, *ranges)


APIS: dict[int, Api] = {row[0]: _api(*row) for row in API_TABLE}
_BY_NAME = {api.name: api for api in APIS.values()}


def api_for_key(key: int) -> Api:
    """Raises UnknownApiError when no release had an API with this key."""
    try:
        return APIS[key]
    except KeyError:
        raise UnknownApiError(f"no API with key {key}; there are 0 to {max(APIS)}") from None


def api_named(name: str) -> Api:
    """Raises UnknownApiError for a name that is not loaded."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UnknownApiError(
            f"no API {name!r} is loaded; there are {', '.join(_BY_NAME)}"
        ) from None


def api_of(cls: type[Message]) -> Api:
    """The API that a request or response class belongs to."""
    key = cls.message_spec.api_key
    if key is None or cls.message_spec.type not in ("request", "response"):
        raise UnknownApiError(f"{cls.__name__} is neither a request nor a response")
    return api_for_key(key)
