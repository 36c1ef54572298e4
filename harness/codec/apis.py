"""The APIs: key, name, message classes, versions, and which header each version uses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from harness.codec.errors import UnknownApiError
from harness.codec.messages import message_class, message_names
from harness.codec.structs import Message
from harness.codec.versions import NO_VERSIONS, VersionRange

API_VERSIONS_KEY = 18
CONTROLLED_SHUTDOWN_KEY = 7


@dataclass(frozen=True, slots=True)
class Api:
    """One API of the protocol and every version of it that was ever released."""

    key: int
    name: str
    request: type[Message]
    response: type[Message]
    valid_versions: VersionRange
    flexible_versions: VersionRange
    unstable_versions: VersionRange  # never advertised unless a broker is told to

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


def _api(name: str) -> Api:
    request, response = message_class(f"{name}Request"), message_class(f"{name}Response")
    spec = request.message_spec
    assert spec.api_key is not None
    highest = spec.valid.highest
    return Api(
        key=spec.api_key,
        name=name,
        request=request,
        response=response,
        valid_versions=spec.valid,
        flexible_versions=spec.flexible,
        unstable_versions=VersionRange(highest, highest) if spec.unstable_highest else NO_VERSIONS,
    )


@cache
def _apis() -> dict[int, Api]:
    names = [n.removesuffix("Request") for n in message_names() if n.endswith("Request")]
    return {api.key: api for api in sorted(map(_api, names), key=lambda api: api.key)}


APIS: dict[int, Api] = _apis()
_BY_NAME = {api.name: api for api in APIS.values()}


def api_for_key(key: int) -> Api:
    """Raises UnknownApiError when no definition is loaded for ``key``."""
    try:
        return APIS[key]
    except KeyError:
        raise UnknownApiError(f"no API with key {key} is loaded") from None


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
    if key is None:
        raise UnknownApiError(f"{cls.__name__} is neither a request nor a response")
    return api_for_key(key)
