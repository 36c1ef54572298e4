"""The API that a word of the command line names."""

from __future__ import annotations

import click

from harness.base.suggestion import did_you_mean
from harness.codec.apis import APIS, Api


def known_api(name: str, param_hint: str) -> Api:
    """The API of this name. Raises BadParameter, with the nearest name, for an unknown one."""
    known = {api.name: api for api in APIS.values()}
    if name not in known:
        hint = did_you_mean(name, known)
        raise click.BadParameter(f"no API is named {name!r}{hint}", param_hint=param_hint)
    return known[name]
