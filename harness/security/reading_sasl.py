"""The settings of SASL in a client's properties file."""

from __future__ import annotations

import shlex
import urllib.parse
from collections.abc import Mapping
from typing import Any

from harness.security.contexts import new_context
from harness.security.jaas import JaasError, LoginModule, parse_jaas
from harness.security.property_values import PropertyValues, listed
from harness.security.secret import Secret
from harness.security.settings import Mechanism, SaslSettings, TlsSettings
from harness.security.token_sources import (
    CommandToken,
    EndpointToken,
    GivenToken,
    TokenSource,
    UnsecuredToken,
)

_JAAS = "sasl.jaas.config"
_USER, _PASSWORD = "sasl.username", "sasl.password"
_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
_IDS = ("sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.id")
_SECRETS = ("sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.client.secret")
_SCOPE = "sasl.oauthbearer.scope"
_MECHANISMS = "kafka-conformance.mechanisms"
_TOKEN, _COMMAND = "kafka-conformance.token", "kafka-conformance.token.command"
OF_PASSWORDS = (_MECHANISMS, _TOKEN)
"""The beginnings of the settings beside Kafka's that need SASL."""
_EXTENSIONS = "sasl.oauthbearer.extensions"
_GSSAPI = "GSSAPI"
_MODULES: Mapping[str, tuple[Mechanism, ...]] = {
    "PlainLoginModule": (Mechanism.PLAIN,),
    "ScramLoginModule": (Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512),
    "OAuthBearerLoginModule": (Mechanism.OAUTHBEARER,),
}
_CLAIM, _EXTENSION = "unsecuredLoginStringClaim_", "extension_"
_LIFE = "unsecuredLoginLifetimeSeconds"
_USUAL_LIFE_S = 3600.0


def read_sasl(values: PropertyValues, tls: TlsSettings) -> SaslSettings:
    """``tls``: for a token endpoint with HTTPS. Raises SecurityError."""
    mechanism = _mechanism(values)
    module = _login_module(values, mechanism)
    if mechanism is Mechanism.OAUTHBEARER:
        options = module.options if module else {}
        extensions = {**_extensions(values), **_with_beginning(options, _EXTENSION)}
        return SaslSettings(
            mechanism,
            tokens=_tokens(values, options, tls),
            extensions=tuple(extensions.items()),
        )
    return _with_password(values, mechanism, module)


def _mechanism(values: PropertyValues) -> Mechanism:
    key = values.given("sasl.mechanism", "sasl.mechanisms") or "sasl.mechanism"
    text = values.get(key).strip().upper()
    known = listed(Mechanism)
    if not text:
        raise values.fail(
            key, f"is missing; Kafka's default, {_GSSAPI}, is not supported. Known: {known}"
        )
    if text == _GSSAPI:
        raise values.fail(key, f"{_GSSAPI} (Kerberos) is not supported; known: {known}")
    return values.one_of(key, Mechanism, Mechanism.PLAIN)


def _login_module(values: PropertyValues, mechanism: Mechanism) -> LoginModule | None:
    text = values.get(_JAAS)
    if not text:
        return None
    try:
        module = parse_jaas(text)
    except JaasError as problem:
        raise values.fail(_JAAS, str(problem)) from None
    mechanisms = _MODULES.get(module.simple_name)
    if mechanisms is None:
        raise values.fail(
            _JAAS, f"the login module {module.name} is not known; known: {', '.join(_MODULES)}"
        )
    if mechanism not in mechanisms:
        raise values.fail(_JAAS, f"{module.simple_name} contradicts the mechanism {mechanism}")
    return module


def _with_password(
    values: PropertyValues, mechanism: Mechanism, module: LoginModule | None
) -> SaslSettings:
    if module is not None:
        values.given(_JAAS, _USER)
        values.given(_JAAS, _PASSWORD)
        name, password = module.options.get("username"), module.options.get("password")
        if name is None or password is None:
            raise values.fail(_JAAS, 'needs username="..." and password="..."')
        by_token = module.options.get("tokenauth", "").lower() == "true"
        mechanisms = _mechanisms(values, mechanism)
        return SaslSettings(mechanism, name, Secret(password), by_token, mechanisms)
    for key in (_USER, _PASSWORD):
        if not values.get(key):
            raise values.fail(key, f"is missing: {mechanism} needs it, or {_JAAS}")
    return SaslSettings(
        mechanism,
        values.get(_USER),
        Secret(values.get(_PASSWORD)),
        mechanisms=_mechanisms(values, mechanism),
    )


def _mechanisms(values: PropertyValues, mechanism: Mechanism) -> tuple[Mechanism, ...]:
    """The mechanisms by which the password can enter: at least this one.

    With OAUTHBEARER tokens of the user without a signature enter too.
    """
    named = [name.strip().upper() for name in values.get(_MECHANISMS).split(",") if name.strip()]
    unknown = [name for name in named if name not in list(Mechanism)]
    if unknown:
        raise values.fail(_MECHANISMS, f"{unknown[0]!r} is not known; known: {listed(Mechanism)}")
    return tuple(dict.fromkeys([mechanism, *map(Mechanism, named)]))


def _tokens(values: PropertyValues, options: Mapping[str, str], tls: TlsSettings) -> TokenSource:
    source = values.given(_TOKEN, _COMMAND, _ENDPOINT)
    if source == _TOKEN:
        return GivenToken(Secret(values.get(_TOKEN)))
    if source == _COMMAND:
        return CommandToken(_words(values))
    claims: dict[str, Any] = _with_beginning(options, _CLAIM)
    if source == _ENDPOINT:
        if claims:
            raise values.fail(_JAAS, f"{_CLAIM}... contradicts {_ENDPOINT}")
        return _endpoint(values, options, tls)
    if "sub" not in claims:
        raise values.fail(
            _JAAS, f"no token: give {_ENDPOINT}, {_TOKEN}, {_COMMAND}, or {_CLAIM}sub in {_JAAS}"
        )
    try:
        return UnsecuredToken(claims, float(options.get(_LIFE, _USUAL_LIFE_S)))
    except ValueError:
        raise values.fail(_JAAS, f"{_LIFE} must be seconds") from None


def _endpoint(
    values: PropertyValues, options: Mapping[str, str], tls: TlsSettings
) -> EndpointToken:
    url = values.get(_ENDPOINT)
    scheme = urllib.parse.urlsplit(url).scheme
    if scheme not in ("http", "https"):
        raise values.fail(_ENDPOINT, "must begin with http:// or https://")
    client_id = values.get(*_IDS) or options.get("clientId", "")
    client_secret = values.get(*_SECRETS) or options.get("clientSecret", "")
    if not client_id or not client_secret:
        raise values.fail(_ENDPOINT, f"needs {_IDS[0]} and {_SECRETS[0]}")
    scope = values.get(_SCOPE) or options.get("scope", "")
    context = new_context(tls, values.path) if scheme == "https" else None
    return EndpointToken(url, client_id, Secret(client_secret), scope, context)


def _words(values: PropertyValues) -> list[str]:
    try:
        words = shlex.split(values.get(_COMMAND))
    except ValueError as problem:
        raise values.fail(_COMMAND, f"cannot be split into words: {problem}") from None
    if not words:
        raise values.fail(_COMMAND, "has no value")
    return words


def _extensions(values: PropertyValues) -> dict[str, str]:
    """librdkafka's form: ``name=value,name=value``."""
    pairs = [word.partition("=") for word in values.get(_EXTENSIONS).split(",") if word.strip()]
    return {name.strip(): value for name, _, value in pairs}


def _with_beginning(options: Mapping[str, str], beginning: str) -> dict[str, str]:
    return {
        name.removeprefix(beginning): value
        for name, value in options.items()
        if name.startswith(beginning)
    }
