"""Conversion of the table of harmless requests to messages of the codec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from harness.codec.apis import api_named
from harness.codec.dictionary_form import DictionaryError, from_dict
from harness.codec.structs import Message, Request
from harness.codec.versions import VersionRange
from harness.conformance.harmless_requests import (
    NAME,
    NULL,
    HarmlessApi,
    HarmlessRequestsError,
    RequestForm,
    Safety,
    load_harmless_requests,
)
from harness.conformance.harmless_requests import UUID as RANDOM_ID


@dataclass(frozen=True, slots=True)
class OwnNames:
    """Values of the placeholders: nothing at the broker may have this name or id."""

    name: str
    uuid: UUID


def safety_of(api_name: str) -> Safety:
    """Return the API's safety class. Raises HarmlessRequestsError when the table lacks the API."""
    return _entry(api_name).safety


def why_harmless(api_name: str) -> str:
    """Return the table's reason why the request is harmless.

    Raises HarmlessRequestsError when the table lacks the API.
    """
    return _entry(api_name).why


def harmless_request(api_name: str, version: int, names: OwnNames) -> Request[Message]:
    """Return the harmless request of an API at a version.

    Raises HarmlessRequestsError when the table has none, or one that does not fit the version.
    """
    return build(api_name, version, _entry(api_name).requests, names)


def build(
    api_name: str, version: int, forms: Sequence[RequestForm], names: OwnNames
) -> Request[Message]:
    """The one of ``forms`` that is for this version. Raises HarmlessRequestsError."""
    fitting = [form for form in forms if version in VersionRange.parse(form.versions)]
    if len(fitting) != 1:
        raise HarmlessRequestsError(
            f"{api_name} v{version}: one request is needed, the table has {len(fitting)}"
        )
    try:  # a field that the version does not carry is refused: a lost validate_only harms
        message = from_dict(api_named(api_name).request, version, _filled(fitting[0].fields, names))
    except DictionaryError as problem:  # else it would count as a misbehaviour of the broker
        raise HarmlessRequestsError(str(problem)) from problem
    return cast("Request[Message]", message)


def _entry(api_name: str) -> HarmlessApi:
    found = load_harmless_requests().get(api_name)
    if found is None:
        raise HarmlessRequestsError(f"the table of harmless requests has no API {api_name}")
    return found


def _filled(value: Any, names: OwnNames) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, names) for inner in value]
    if isinstance(value, str):
        return {NAME: names.name, RANDOM_ID: str(names.uuid), NULL: None}.get(value, value)
    return value
