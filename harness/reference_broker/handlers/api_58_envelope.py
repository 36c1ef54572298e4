"""Envelope: API key 58, versions 0 to 0; only on the controller's listener (KIP-590).

Behaviour
- A broker forwards a client's request: it is carried out as if the client had sent it here, and the
  response is returned unchanged, with its header.
- A request that brokers do not forward, or that cannot be read, is INVALID_REQUEST.
"""

from harness.codec import DecodeError, decode_prefix, encode
from harness.codec.apis import APIS
from harness.codec.error_code import ErrorCode
from harness.codec.header import RequestRefused, decode_request_header, response_header
from harness.codec.messages import EnvelopeRequest, EnvelopeResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.table import CONTROLLER_HANDLERS, FORWARDED

API_KEY = 58


def handle(request: EnvelopeRequest, context: RequestContext) -> Outcome:
    """Carry out the forwarded request."""
    data = request.request_data
    try:
        header, body_offset = decode_request_header(data, tolerant=True)
        if header.request_api_key not in FORWARDED:
            return _refused()
        api, version = APIS[header.request_api_key], header.request_api_version
        body, _ = decode_prefix(api.request, version, data, body_offset, tolerant=True)
    except (DecodeError, RequestRefused):
        return _refused()
    inner = context._replace(
        api_version=version, client_id=header.client_id, request_bytes=len(data)
    )
    outcome = CONTROLLER_HANDLERS[api.key].handle(body, inner)
    if not isinstance(outcome, Answer):
        return _refused()
    head = response_header(api, version, header.correlation_id)
    return Answer(EnvelopeResponse(response_data=head + encode(outcome.message, version)))


def _refused() -> Answer:
    return Answer(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))
