"""The settings of a proxy in requests to the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.base.address import Address
from harness.base.suggestion import did_you_mean
from harness.proxies.control.address_text import parse_address
from harness.proxies.control.errors import BadBody, MissingField
from harness.proxies.toxics.named import NamedToxic

ANY_PORT = Address("127.0.0.1", 0)
FIELDS = ("name", "listen", "upstream", "enabled", "toxics")


@dataclass(frozen=True)
class ProxySettings:
    """``toxics`` are armed with the proxy, before it accepts anything (toxiproxy has none here)."""

    name: str
    upstream: Address
    listen: Address = ANY_PORT
    enabled: bool = True
    toxics: tuple[NamedToxic, ...] = ()

    @classmethod
    def from_json(cls, fields: Any, place: str = "") -> ProxySettings:
        """Read the settings of a new proxy; ``place`` names it in errors, if there are several."""
        _require_known(fields)
        for name in ("name", "upstream"):
            if not fields.get(name):
                raise MissingField(f"{name}{place}")
        if not isinstance(fields["name"], str):
            raise BadBody(f"name must be a string, not {fields['name']!r}")
        upstream = _address(fields, "upstream", place)
        settings = cls(fields["name"], upstream, toxics=_toxics(fields))
        return settings._with(fields, place)

    def updated(self, fields: Any) -> ProxySettings:
        """Return the settings with the given values; the name and the toxics do not change."""
        _require_known(fields)
        settings = self
        if fields.get("upstream"):
            settings = replace(settings, upstream=_address(fields, "upstream", ""))
        return settings._with(fields, "")

    def _with(self, fields: Mapping[str, Any], place: str) -> ProxySettings:
        listen, enabled = self.listen, self.enabled
        if fields.get("listen"):
            listen = _address(fields, "listen", place)
        if fields.get("enabled") is not None:
            enabled = fields["enabled"]
        if not isinstance(enabled, bool):
            raise BadBody(f"enabled{place} must be true or false, not {enabled!r}")
        return replace(self, listen=listen, enabled=enabled)


def _require_known(fields: Any) -> None:
    if not isinstance(fields, Mapping):
        raise BadBody(f"a proxy must be an object with {', '.join(FIELDS)}, not {fields!r}")
    for name in fields:
        if name not in FIELDS:
            raise BadBody(f'a proxy has no field "{name}"{did_you_mean(name, FIELDS)}')


def _address(fields: Mapping[str, Any], name: str, place: str) -> Address:
    try:
        return parse_address(fields[name], first_port=1 if name == "upstream" else 0)
    except ValueError as error:
        raise BadBody(f"{name}{place} {error}") from None


def _toxics(fields: Mapping[str, Any]) -> tuple[NamedToxic, ...]:
    toxics = fields.get("toxics") or []
    if not isinstance(toxics, list):
        raise BadBody(f"toxics must be a list, not {toxics!r}")
    return tuple(NamedToxic.from_json(each) for each in toxics)
