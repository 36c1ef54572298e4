"""SaslAuthenticate: API key 36, versions 0 to 2.

Behaviour
- The request comes here where no authentication goes on, and gets ILLEGAL_SASL_STATE; the
  connection goes on. An authentication is the work of `authentication/sasl_session.py`.

Version notes
- v1   the life of the session (KIP-368)
- v2   compact fields (KIP-482)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import SaslAuthenticateRequest, SaslAuthenticateResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 36
_TOO_LATE = "SaslAuthenticate request received after successful authentication"


def handle(_request: SaslAuthenticateRequest, _context: RequestContext) -> Answer:
    """Refuse the token (class KafkaApis, handleSaslAuthenticateRequest)."""
    error = ErrorCode.ILLEGAL_SASL_STATE
    return Answer(SaslAuthenticateResponse(error_code=error, error_message=_TOO_LATE))
