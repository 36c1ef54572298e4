"""Envelope: API key 58, versions 0 to 0; only on the controller's listener (KIP-590).

Behaviour
- A broker forwards a client's request: it is carried out with the client's rights, and the
  response is returned unchanged, with its header.
- A request that brokers do not forward, or a client address that is none, is INVALID_REQUEST; a
  request that cannot be read is UNSUPPORTED_VERSION, a principal that cannot be read is
  PRINCIPAL_DESERIALIZATION_FAILURE.
"""

import ipaddress

from harness.codec import DecodeError, decode_prefix, encode
from harness.codec.apis import APIS
from harness.codec.data_framing.version_prefix import read_version_prefixed
from harness.codec.error_code import ErrorCode
from harness.codec.header import RequestRefused, decode_request_header, response_header
from harness.codec.messages import DefaultPrincipalData, EnvelopeRequest, EnvelopeResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.table import FORWARDED_HANDLERS, carried_out

API_KEY = 58
_ADDRESS_BYTES = (4, 16)
"""The sizes of an IPv4 and an IPv6 address."""


def handle(request: EnvelopeRequest, context: RequestContext) -> Outcome:
    """Carry out the forwarded request."""
    data = request.request_data
    principal = _principal(request.request_principal)
    if principal is None:
        return _refused(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE)
    if len(request.client_host_address) not in _ADDRESS_BYTES:
        return _refused(ErrorCode.INVALID_REQUEST)
    try:
        header, body_offset = decode_request_header(data, tolerant=True)
        if header.request_api_key not in FORWARDED_HANDLERS:
            return _refused(ErrorCode.INVALID_REQUEST)
        api, version = APIS[header.request_api_key], header.request_api_version
        body, _ = decode_prefix(api.request, version, data, body_offset, tolerant=True)
    except (DecodeError, RequestRefused):
        return _refused(ErrorCode.UNSUPPORTED_VERSION)
    inner = context._replace(
        api_version=version,
        client_id=header.client_id,
        request_bytes=len(data),
        user=principal.name,
        may_ask_for_tokens=not principal.token_authenticated,
        client_host=str(ipaddress.ip_address(request.client_host_address)),
    )
    outcome = carried_out(FORWARDED_HANDLERS[api.key], body, inner)
    if not isinstance(outcome, Answer):
        return _refused(ErrorCode.INVALID_REQUEST)
    head = response_header(api, version, header.correlation_id)
    return Answer(EnvelopeResponse(response_data=head + encode(outcome.message, version)))


def _principal(data: bytes | None) -> DefaultPrincipalData | None:
    """Return a principal; None if it cannot be read."""
    try:
        return read_version_prefixed(DefaultPrincipalData, data or b"").message
    except DecodeError:
        return None


def _refused(error: ErrorCode) -> Answer:
    return Answer(EnvelopeResponse(error_code=error))
