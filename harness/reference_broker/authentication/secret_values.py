"""Values of settings that are secrets; no error repeats one."""

import os
import re

from harness.reference_broker.settings import BrokerSettings, SettingError
from harness.security.jaas import JaasError, LoginModule, parse_jaas
from harness.security.secret import Secret

_VARIABLE = re.compile(r"\$\{env:([^}]*)\}")
_PLAIN_MODULE, _USER = "PlainLoginModule", "user_"
_JAAS = "sasl.jaas.config"


def secret_of(settings: BrokerSettings, name: str) -> Secret:
    """Return a setting, its `${env:NAME}` replaced as by Kafka's EnvVarConfigProvider.

    Raises SettingError: there is no such variable.
    """
    return revealed(settings.text(name), name)


def revealed(text: str, name: str) -> Secret:
    """Return a text with its `${env:NAME}` replaced; ``name`` is that of the setting.

    Raises SettingError.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise SettingError(f"{name}: the environment has no variable {found[1]}")
        return os.environ[found[1]]

    return Secret(_VARIABLE.sub(value, text))


def plain_users(settings: BrokerSettings) -> dict[str, Secret]:
    """Return the passwords of the users of PLAIN, from `sasl.jaas.config`. Raises SettingError."""
    module = _plain_module(settings)
    options = {} if module is None else module.options
    return {
        name.removeprefix(_USER): Secret(password)
        for name, password in options.items()
        if name.startswith(_USER)
    }


def own_credentials(settings: BrokerSettings) -> tuple[str, Secret]:
    """Return the user and the password by which this node enters other nodes.

    Raises SettingError: `sasl.jaas.config` has none.
    """
    module = _plain_module(settings)
    options = {} if module is None else module.options
    if "username" not in options or "password" not in options:
        raise SettingError(f"{_JAAS}: username and password are missing, for links between nodes")
    return options["username"], Secret(options["password"])


def _plain_module(settings: BrokerSettings) -> LoginModule | None:
    text = secret_of(settings, _JAAS).reveal()
    if not text:
        return None
    try:
        module = parse_jaas(text)
    except JaasError as problem:
        raise SettingError(f"{_JAAS}: {problem}") from None
    if module.simple_name != _PLAIN_MODULE:
        raise SettingError(f"{_JAAS}: the module is {_PLAIN_MODULE}, with user_NAME=...")
    return module
