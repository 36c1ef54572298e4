"""The subject of a certificate as text, as Java writes it (RFC 2253).

Java's ``X500Principal.getName`` begins with the last name of the certificate, knows the short names
of the RFC, and writes others as an OID with ``#`` and the value's DER in hexadecimal digits. The
reader of DER knows what a certificate needs and no more.
"""

from typing import NamedTuple

_SHORT = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
_TEXTS = {0x0C: "utf-8", 0x13: "ascii", 0x14: "latin-1", 0x16: "ascii", 0x1E: "utf-16-be"}
"""Encodings of the string types of ASN.1, by their tags."""
_VERSION_TAG = 0xA0
_LONG_LENGTH = 0x80
_ESCAPED = ',+"\\<>;'


class _Value(NamedTuple):
    """One value of DER: its tag, its content, and all of its bytes."""

    tag: int
    content: bytes
    whole: bytes


def subject_of(certificate: bytes) -> str:
    """Return the subject of a certificate in DER, which a TLS handshake has verified."""
    (whole,) = _values(certificate)
    fields = _values(_values(whole.content)[0].content)
    if fields[0].tag == _VERSION_TAG:
        fields = fields[1:]
    _serial, _signature, _issuer, _validity, subject = fields[:5]
    return ",".join(_name(each) for each in reversed(_values(subject.content)))


def _name(relative: _Value) -> str:
    """Return one name, or several joined by a plus."""
    return "+".join(_attribute(each) for each in _values(relative.content))


def _attribute(pair: _Value) -> str:
    kind, value = _values(pair.content)
    oid = _oid(kind.content)
    if oid in _SHORT and value.tag in _TEXTS:
        return f"{_SHORT[oid]}={_escaped(value.content.decode(_TEXTS[value.tag], 'replace'))}"
    return f"{_SHORT.get(oid, oid)}=#{value.whole.hex()}"


def _escaped(text: str) -> str:
    escaped = "".join(f"\\{one}" if one in _ESCAPED else one for one in text)
    if escaped.startswith((" ", "#")):
        escaped = f"\\{escaped}"
    if text.endswith(" ") and len(text) > 1:
        escaped = f"{escaped[:-1]}\\ "
    return escaped


def _oid(content: bytes) -> str:
    numbers, number = [], 0
    for byte in content:
        number = number << 7 | byte & 0x7F
        if byte < _LONG_LENGTH:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def _values(data: bytes) -> list[_Value]:
    found, at = [], 0
    while at < len(data):
        tag, length, begin = data[at], data[at + 1], at + 2
        if length >= _LONG_LENGTH:
            size = length - _LONG_LENGTH
            length, begin = int.from_bytes(data[begin : begin + size]), begin + size
        end = begin + length
        found.append(_Value(tag, data[begin:end], data[at:end]))
        at = end
    return found
