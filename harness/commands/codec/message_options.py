"""The options of ``codec decode`` and ``codec encode`` that name the message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from harness.base.suggestion import did_you_mean
from harness.codec.apis import APIS, Api, api_for_key
from harness.codec.data_framing.own_topics import WrittenTo
from harness.codec.errors import UnsupportedVersionError
from harness.codec.message_codec import require_version
from harness.codec.messages import message_class, message_names
from harness.codec.structs import Message
from harness.commands.release_option import release_word

KINDS = ("request", "response", "request_header", "response_header", "data", "records")
F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS = (
    click.option("--api", metavar="NAME|KEY", help="The API, such as Fetch or 1."),
    click.option("--name", metavar="SCHEMA", help="A message by its own name, also of no API."),
    click.option("--version", type=int, metavar="N", help="The version of the API or schema."),
    click.option("--kind", type=click.Choice(KINDS), help="What it is; of an API: request."),
    click.option("--with-header", is_flag=True, help="A header stands before the body."),
    click.option(
        "--release",
        metavar="R",
        callback=release_word,
        help="As this release of Kafka spoke it, such as 2.7.",
    ),
)


def message_options(command: F) -> F:
    """Add the options that name the message."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A message at one version: a body, or the header before it."""

    role: str  # header, body
    cls: type[Message]
    version: int


@dataclass(frozen=True, slots=True)
class MessageChoice:
    """The options as they were given."""

    api: str | None
    name: str | None
    version: int | None
    kind: str | None
    with_header: bool
    release: str | None
    topic: str | None = None

    @property
    def header_tells(self) -> bool:
        """A whole request of any API: which one it is stands in its header."""
        is_named = self.api or self.name
        return (
            self.kind == "request" and not is_named and (self.with_header or self.version is None)
        )

    @property
    def is_open(self) -> bool:
        """True if no option names the message: the bytes have to."""
        named = (self.api, self.name, self.version, self.kind, self.release)
        return not self.with_header and all(one is None for one in named)

    @property
    def is_of_api(self) -> bool:
        """True for the body of a request or response, before which a header can stand."""
        if self.name in message_names():
            return message_class(self.name).message_spec.type in KINDS[:2]
        return self.api is not None and self.kind in (None, *KINDS[:2])

    @property
    def written_to(self) -> WrittenTo:
        """The topic of records, and the release that wrote them."""
        return WrittenTo(self.topic, self.release)

    @property
    def is_records(self) -> bool:
        """Batches and message sets. Raises click.UsageError when a message is named too."""
        if self.kind != "records":
            return False
        alone = self.release and not self.topic  # batches are the same in all releases
        if self.api or self.name or self.version is not None or self.with_header or alone:
            raise click.UsageError(
                "--kind records says it all: leave the other options out, but for --topic"
            )
        return True

    def parts(self) -> list[MessagePart]:
        """Return the consecutive parts of the bytes. Raises click.UsageError with advice."""
        if self.version is None:
            raise click.UsageError("which version? Give --version N")
        if self.name:
            return self._by_name(self.name, self.version)
        if self.api:
            return self._of_api(_api(self.api), self.kind or "request", self.version)
        if self.kind in ("request_header", "response_header") and not self.with_header:
            name = "RequestHeader" if self.kind == "request_header" else "ResponseHeader"
            return [self._part("body", name, self.version)]
        raise click.UsageError(
            "which message? Give --api Fetch --version 12 --kind response, or --name SCHEMA; "
            "--kind request --with-header reads both from the header"
        )

    def of_request(self, key: int, version: int) -> list[MessagePart]:
        """Return the parts of a request, by the key and version in its header; raises
        UnknownApiError."""
        return self._of_api(api_for_key(key), "request", version)

    def _of_api(self, api: Api, kind: str, version: int) -> list[MessagePart]:
        if kind not in KINDS[:4]:
            raise click.UsageError(f"--kind {kind} belongs to no API: leave --api out")
        side = kind.partition("_")[0]
        body = self._part("body", f"{api.name}{side.title()}", version)
        header_version = getattr(api, f"{side}_header_version")(version)
        header = MessagePart("header", message_class(f"{side.title()}Header"), header_version)
        if kind.endswith("_header"):
            return [header]
        return [header, body] if self.with_header else [body]

    def _by_name(self, name: str, version: int) -> list[MessagePart]:
        if self.api or self.kind not in (None, "data"):
            raise click.UsageError("--name says it all: leave --api and --kind out")
        if name not in message_names():
            raise click.UsageError(f"no message {name!r}{did_you_mean(name, message_names())}")
        part = self._part("body", name, version)
        spec = part.cls.message_spec
        if not self.with_header:
            return [part]
        if spec.api_key is None or spec.type not in ("request", "response"):
            raise click.UsageError(f"{name} is of no API: no header stands before it")
        return self._of_api(api_for_key(spec.api_key), spec.type, version)

    def _part(self, role: str, name: str, version: int) -> MessagePart:
        cls = class_at(name, self.release)
        try:
            require_version(cls, version)
        except UnsupportedVersionError as error:
            raise click.UsageError(str(error)) from error
        return MessagePart(role, cls, version)


def class_at(name: str, release: str | None) -> type[Message]:
    """The class as that release spoke it; click.UsageError for what is no release."""
    try:
        return message_class(name, release)
    except ValueError as error:
        raise click.UsageError(f"--release {release} is no release, such as 2.7.2") from error


def _api(word: str) -> Api:
    by_name = {api.name.lower(): api for api in APIS.values()}
    by_key = {str(api.key): api for api in APIS.values()}
    found = by_key.get(word) or by_name.get(word.lower())
    if found is None:
        near = did_you_mean(word, [api.name for api in APIS.values()])
        raise click.UsageError(f"no API {word!r}{near}; codec list shows all")
    return found
