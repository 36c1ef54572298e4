"""The two ways in which an exchange of SASL tokens ends without success."""


class CredentialsRefused(Exception):
    """The client is not authenticated.

    ``said`` is what the client receives; empty: only that its credentials are invalid, since more
    would show which users exist (class SaslServerAuthenticator).
    """

    def __init__(self, said: str = "") -> None:
        super().__init__(said or "the credentials are invalid")
        self.said = said


class ExchangeBroken(Exception):
    """The token cannot be processed at all: the connection is closed without an answer."""
