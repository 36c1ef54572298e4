"""The addresses in the options of ``kafka-conformance proxy``: read, paired and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from harness.base.address import Address
from harness.proxies.addresses.book import comparable
from harness.proxies.control.address_text import parse_address
from harness.proxies.proxy import LOCAL
from harness.proxies.upstream import Upstream

NAME = re.compile(r"[\w.:-]+")
ANY_HOST = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # these are refused
MAP_FORM = "NAME:PORT=HOST:PORT"
Pair = tuple[Address, Address]


def _address(text: str, first_port: int) -> Address:
    try:
        return Address(*parse_address(text, first_port=first_port))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _with_host(text: str) -> Address:
    address = _address(text, 1)
    if not address.host:
        raise click.BadParameter(f"{text!r} has no host")
    return address


def listen_address(text: str) -> Address:
    """``HOST:PORT``; port 0 takes a free one."""
    return _address(text, 0)


def upstream(text: str) -> Upstream:
    """``HOST:PORT`` or ``NAME=HOST:PORT``."""
    name, sign, rest = text.rpartition("=")
    if sign and not NAME.fullmatch(name):
        raise click.BadParameter(f"a name has letters, digits and any of _.:-, not {name!r}")
    return Upstream(_with_host(rest), name=name)


def mapped_pair(text: str) -> Pair:
    """``NAME:PORT=HOST:PORT``: an advertised address, and the one at which it is reached."""
    shown, sign, reachable = text.partition("=")
    if not sign:
        raise click.BadParameter(f"must be {MAP_FORM}, not {text!r}")
    return _with_host(shown), _with_host(reachable)


def mapping(pairs: Sequence[Pair]) -> Mapping[Address, Address]:
    """Advertised -> reachable address. Raises UsageError: one address has two places."""
    found: dict[Address, Pair] = {}
    for shown, reachable in pairs:
        key = Address(comparable(shown.host), shown.port)
        before, place = found.setdefault(key, (shown, reachable))
        if (comparable(place.host), place.port) != (comparable(reachable.host), reachable.port):
            raise click.UsageError(
                f"--map gives two places to one advertised address: {before}={place} and "
                f"{shown}={reachable}; keep one of them"
            )
    return dict(found.values())


def paired(upstreams: Sequence[Upstream], listens: Sequence[Address]) -> tuple[Upstream, ...]:
    """Return each upstream with the address of its proxy. Raises UsageError."""
    if listens and len(listens) != len(upstreams):
        raise click.UsageError(
            f"{len(upstreams)} times --upstream and {len(listens)} times --listen: give one for "
            "each, in the same order, or none"
        )
    names = [one.name or str(one.address) for one in upstreams]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"two upstreams are called {name!r}; give them names, NAME=...")
    there = [one for one in listens if one.port]
    for listen in there:
        if there.count(listen) > 1:
            raise click.UsageError(f"two proxies cannot listen at {listen}")
    listens = listens or [LOCAL] * len(upstreams)
    return tuple(replace(one, listen=at) for one, at in zip(upstreams, listens, strict=True))


def require_reachable(upstreams: Sequence[Upstream]) -> None:
    """Raises UsageError: a proxy listens at all addresses, which is none that clients can use."""
    for one in upstreams:
        if one.listen.host in ANY_HOST:
            raise click.UsageError(
                f"no client can connect to {one.listen}: give with --advertise the host by which "
                "they reach it, or --no-rewrite"
            )


def require_distinct(upstreams: Sequence[Upstream], advertise: str) -> None:
    """Raises UsageError: clients would get one address, host and port, for two proxies."""
    ports = [one.listen.port for one in upstreams if one.listen.port]
    for port in ports:
        if ports.count(port) > 1:
            raise click.UsageError(
                f"with --advertise {advertise} two proxies have the address "
                f"{Address(advertise, port)}; give them two ports with --listen"
            )
