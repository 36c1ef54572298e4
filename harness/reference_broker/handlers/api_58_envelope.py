"""Envelope: API key 58, versions 0 to 0; only on the controller's listener (KIP-590).

Behaviour
- A broker forwards a client's request: it is carried out as if the client had sent it here, and the
  response is returned unchanged, with its header.
- A request that brokers do not forward, or a client address that is none, is INVALID_REQUEST; a
  request that cannot be read is UNSUPPORTED_VERSION, a principal that cannot be read is
  PRINCIPAL_DESERIALIZATION_FAILURE.
"""

from harness.codec import DecodeError, decode_prefix, encode
from harness.codec.apis import APIS
from harness.codec.data_framing.version_prefix import read_version_prefixed
from harness.codec.error_code import ErrorCode
from harness.codec.header import RequestRefused, decode_request_header, response_header
from harness.codec.messages import DefaultPrincipalData, EnvelopeRequest, EnvelopeResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.table import CONTROLLER_HANDLERS, FORWARDED

API_KEY = 58
_ADDRESS_BYTES = (4, 16)
"""The sizes of an IPv4 and an IPv6 address."""


def handle(request: EnvelopeRequest, context: RequestContext) -> Outcome:
    """Carry out the forwarded request."""
    data = request.request_data
    if not _is_principal(request.request_principal):
        return _refused(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE)
    if len(request.client_host_address) not in _ADDRESS_BYTES:
        return _refused(ErrorCode.INVALID_REQUEST)
    try:
        header, body_offset = decode_request_header(data, tolerant=True)
        if header.request_api_key not in FORWARDED:
            return _refused(ErrorCode.INVALID_REQUEST)
        api, version = APIS[header.request_api_key], header.request_api_version
        body, _ = decode_prefix(api.request, version, data, body_offset, tolerant=True)
    except (DecodeError, RequestRefused):
        return _refused(ErrorCode.UNSUPPORTED_VERSION)
    inner = context._replace(
        api_version=version, client_id=header.client_id, request_bytes=len(data)
    )
    outcome = CONTROLLER_HANDLERS[api.key].handle(body, inner)
    if not isinstance(outcome, Answer):
        return _refused(ErrorCode.INVALID_REQUEST)
    head = response_header(api, version, header.correlation_id)
    return Answer(EnvelopeResponse(response_data=head + encode(outcome.message, version)))


def _is_principal(data: bytes | None) -> bool:
    try:
        read_version_prefixed(DefaultPrincipalData, data or b"")
    except DecodeError:
        return False
    return True


def _refused(error: ErrorCode) -> Answer:
    return Answer(EnvelopeResponse(error_code=error))
