"""SaslHandshake: API key 17, versions 0 to 1.

Behaviour
- The request comes here where no authentication is due: on a listener without SASL, and on one with
  it after the authentication, while the session has no end or a second has not passed. Every
  mechanism is answered with ILLEGAL_SASL_STATE, and the connection goes on. Before Kafka 1.1 the
  response has the mechanisms of the broker's configs, as if they were enabled.
- What begins an authentication: `authentication/sasl_session.py`.
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import SaslHandshakeRequest, SaslHandshakeResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 17
_NONE_IS_ENABLED = (1, 1)  # before, class KafkaApis reads sasl.enabled.mechanisms
_CONFIGURED = ("GSSAPI",)  # the default of that config


def handle(_request: SaslHandshakeRequest, context: RequestContext) -> Answer:
    """Refuse every mechanism (class KafkaApis, handleSaslHandshakeRequest)."""
    mechanisms = [] if context.state.like.since(*_NONE_IS_ENABLED) else list(_CONFIGURED)
    error = ErrorCode.ILLEGAL_SASL_STATE
    return Answer(SaslHandshakeResponse(error_code=error, mechanisms=mechanisms))
