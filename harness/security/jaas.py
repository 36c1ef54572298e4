"""``sasl.jaas.config``: a login module with its options, as Kafka's clients write it.

``MODULE required name="value" name=value;`` (KIP-85). The values may be secrets: no error repeats
one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_WORD = re.compile(
    r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(;)|(=)|([^\s"'=;]+))""", re.DOTALL
)
_FLAGS = ("required", "requisite", "sufficient", "optional")
_QUOTED = (1, 2)


class JaasError(ValueError):
    """The text has another form; without any value of it."""


@dataclass(frozen=True, slots=True)
class LoginModule:
    """The class name of the module, and its options."""

    name: str
    options: dict[str, str] = field(repr=False)

    @property
    def simple_name(self) -> str:
        """The class name without its package."""
        return self.name.rpartition(".")[2]


def parse_jaas(text: str) -> LoginModule:
    """Return the one login module of the text. Raises JaasError."""
    words = _words(text)
    if len(words) < 3 or words[1].lower() not in _FLAGS:
        raise JaasError('its form is: MODULE required name="value" ... ;')
    name, _, *rest = words
    if rest.count(";") != 1 or rest[-1] != ";":
        raise JaasError("one login module ends with one semicolon")
    return LoginModule(name, _options(rest[:-1]))


def _options(words: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    if len(words) % 3:
        raise JaasError('each option is name="value"')
    for at in range(0, len(words), 3):
        name, sign, value = words[at : at + 3]
        if sign != "=" or name in options:
            raise JaasError(f'each option is name="value", once; look behind {at // 3} options')
        options[name] = value.removeprefix("\0")
    return options


def _words(text: str) -> list[str]:
    """The words and signs; a quoted word begins with a zero, so that it is never a sign."""
    words, at = [], 0
    while text[at:].strip():
        found = _WORD.match(text, at)
        if found is None:
            raise JaasError("a quote is not closed")
        kind = found.lastindex or 0
        word = found[kind]
        words.append("\0" + re.sub(r"\\(.)", r"\1", word) if kind in _QUOTED else word)
        at = found.end()
    return words
