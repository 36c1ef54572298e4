"""Configs of one broker are looked at by that broker before the controller stores them.

Source: class ConfigAdminManager (preprocess, copyWithoutPreprocessed, reassembleLegacyResponse,
reassembleIncrementalResponse).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.codec import DecodeError, decode_prefix
from harness.codec.apis import APIS
from harness.codec.header import (
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from harness.codec.messages import (
    AlterConfigsResponse,
    IncrementalAlterConfigsResponse,
    RequestHeader,
)
from harness.reference_broker.handlers import api_33_alter_configs, api_44_incremental_alter_configs
from harness.reference_broker.handlers.config_requests import (
    ALTERED_BY_KEY,
    ALTERED_WHOLE,
    ResponseForm,
    answers,
    asked_in,
    refused_here,
)
from harness.reference_broker.node import Forward
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.quotas.client_quotas import ANYBODY


@dataclass(frozen=True, slots=True)
class _Alteration:
    """One of the two requests that change configs; they have the same shape."""

    response: type[Any]
    resource_answer: type[Any]
    way: ResponseForm


_ALTERATIONS = {
    api_33_alter_configs.API_KEY: _Alteration(
        AlterConfigsResponse,
        AlterConfigsResponse.AlterConfigsResourceResponse,
        ALTERED_WHOLE,
    ),
    api_44_incremental_alter_configs.API_KEY: _Alteration(
        IncrementalAlterConfigsResponse,
        IncrementalAlterConfigsResponse.AlterConfigsResourceResponse,
        ALTERED_BY_KEY,
    ),
}


class ConfigScreening:
    """Passes requests on, without what this broker refuses of them; that is in the response."""

    def __init__(self, state: BrokerState, forward: Forward) -> None:
        self._state, self._forward = state, forward

    def forward(
        self, payload: bytes, client_host: str, user: str = ANYBODY
    ) -> asyncio.Future[bytes]:
        """See Forwarding."""
        header, body_offset = decode_request_header(payload, tolerant=True)
        alteration = _ALTERATIONS.get(header.request_api_key)
        if alteration is None:
            return self._forward(payload, client_host, user)
        api, version = APIS[header.request_api_key], header.request_api_version
        try:
            body: Any = decode_prefix(api.request, version, payload, body_offset, tolerant=True)[0]
        except DecodeError:
            return self._forward(payload, client_host, user)  # the controller says so
        asked = asked_in(body)
        refusals = refused_here(asked, alteration.way, self._state)
        if not any(refusals):
            return self._forward(payload, client_host, user)
        body.resources = [
            each for each, refusal in zip(body.resources, refusals, strict=True) if not refusal
        ]
        here = answers(list(zip(asked, refusals, strict=True)), alteration.resource_answer)
        work = self._asked_for_rest(header, body, alteration, here, (client_host, user))
        return asyncio.get_running_loop().create_task(work)

    async def _asked_for_rest(
        self,
        header: RequestHeader,
        body: Any,
        alteration: _Alteration,
        here: Sequence[Any],
        client: tuple[str, str],
    ) -> bytes:
        """The response: of what is left in ``body`` the controller's, if anything is left."""
        version, correlation_id = header.request_api_version, header.correlation_id
        response = alteration.response()
        if body.resources:
            rest = encode_request(body, version, correlation_id, header.client_id)
            payload = await self._forward(rest, *client)
            response = decode_response(APIS[header.request_api_key], version, payload)[1]
        told = {(each.resource_type, each.resource_name): each for each in response.responses}
        response.responses = [
            told.get((each.resource_type, each.resource_name), each) for each in here
        ]
        return encode_response(response, version, correlation_id)
