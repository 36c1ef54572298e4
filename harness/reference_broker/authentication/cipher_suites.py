"""`ssl.cipher.suites`: the suites of a listener, by the names of their registration.

OpenSSL has names of its own for the suites of TLS 1.2. Those of TLS 1.3 cannot be chosen one by one
here: Python's ssl has no call for it before 3.15.
"""

import ssl

from harness.reference_broker.settings import BrokerSettings, SettingError

_SETTING = "ssl.cipher.suites"
_TLS_1_3 = frozenset(
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
)
_OPENSSL = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256": "DHE-RSA-AES128-GCM-SHA256",
    "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384": "DHE-RSA-AES256-GCM-SHA384",
}


def choose_ciphers(context: ssl.SSLContext, settings: BrokerSettings) -> None:
    """Let the context have the suites of the setting; without any, those of OpenSSL.

    A list without suites of a version leaves that version out, as in Java. Raises SettingError.
    """
    named = settings.values[_SETTING]
    assert isinstance(named, tuple), "the setting is a list"
    if not named:
        return
    newest, older = (
        _TLS_1_3.intersection(named),
        [_OPENSSL[one] for one in named if one in _OPENSSL],
    )
    unknown = [one for one in named if one not in _TLS_1_3 and one not in _OPENSSL]
    if unknown or newest not in (set(), _TLS_1_3):
        raise SettingError(
            f"{_SETTING}: {', '.join(unknown or sorted(newest))}: this broker knows "
            f"{', '.join(_OPENSSL)}, and all together {', '.join(sorted(_TLS_1_3))}"
        )
    if older:
        context.set_ciphers(":".join(older))
    if not newest:
        context.maximum_version = min(context.maximum_version, ssl.TLSVersion.TLSv1_2)
    if not older:
        context.minimum_version = max(context.minimum_version, ssl.TLSVersion.TLSv1_3)
    if context.minimum_version > context.maximum_version:
        raise SettingError(f"{_SETTING} and ssl.enabled.protocols have no version in common")
