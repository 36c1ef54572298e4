"""SaslHandshake: API key 17, versions 0 to 1.

Behaviour
- On a listener without authentication every mechanism is answered with ILLEGAL_SASL_STATE, and the
  connection goes on.

Not done
- Listeners with SASL.
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import SaslHandshakeRequest, SaslHandshakeResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 17


def handle(_request: SaslHandshakeRequest, _context: RequestContext) -> Answer:
    """Refuse every mechanism (class KafkaApis, handleSaslHandshakeRequest)."""
    return Answer(SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE))
