"""``kafka-conformance proxy``: a fault-injecting proxy before any cluster."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from harness.base.address import Address
from harness.base.ending_signals import at_ending_signals
from harness.base.event_loop import loop_factory
from harness.commands.proxy_addresses import (
    MAP_FORM,
    Pair,
    listen_address,
    mapped_pair,
    mapping,
    paired,
    require_distinct,
    require_reachable,
    upstream,
)
from harness.commands.proxy_display import Display, Lines
from harness.commands.proxy_tls import tls_ends, tls_options
from harness.proxies.capture import Capture, Sides
from harness.proxies.control.event_log import EventLog
from harness.proxies.control.guard import require_safe
from harness.proxies.event import Event
from harness.proxies.front import Front
from harness.proxies.journal import ProxyJournal
from harness.proxies.rules import RulesFile, RulesRefused, read_rules_file
from harness.proxies.tls_ends import TlsEnds
from harness.proxies.upstream import Upstream

if TYPE_CHECKING:
    from harness.proxies.control.server import ControlServer

T = TypeVar("T")
TICK_S = 0.5
EXIT_REFUSED = 2
MIB = 1 << 20
TOKEN_VARIABLE = "KAFKA_CONFORMANCE_CONTROL_TOKEN"  # noqa: S105  # its name


@dataclass(frozen=True, slots=True)
class WantedProxy:
    """The values of the options."""

    upstreams: tuple[Upstream, ...]
    reachable: Mapping[Address, Address]
    rules: RulesFile
    seed: int
    rewrites: bool
    advertise: str
    control: Address | None
    token: str | None
    journal: Path | None
    capture: Path | None
    sides: Sides
    capture_bytes: int
    tls: TlsEnds | None


@click.command("proxy")
@click.option("--upstream", "upstreams", type=upstream, metavar="[NAME=]HOST:PORT",
              multiple=True, required=True,
              help="A broker; may be repeated. `1=HOST:PORT` binds node 1: clients that are sent "
              "to node 1, at any address, get this proxy. Without a name it is called by its "
              "address.")  # fmt: skip
@click.option("--map", "pairs", type=mapped_pair, metavar=MAP_FORM, multiple=True,
              help="What a broker advertises as NAME:PORT is reached at HOST:PORT from here; may "
              "be repeated. An IPv6 address stands in brackets.")  # fmt: skip
@click.option("--listen", "listens", type=listen_address, metavar="HOST:PORT", multiple=True,
              help="Where clients connect instead, one for each --upstream in the same order; "
              "without, free ports of 127.0.0.1.")  # fmt: skip
@click.option("--advertise", metavar="HOST", default="",
              help="The host by which clients reach the proxies, if it is another than --listen "
              "says.")  # fmt: skip
@click.option("--no-rewrite", is_flag=True,
              help="Leave the addresses in frames as they are: clients then go where the brokers "
              "send them.")  # fmt: skip
@click.option("--rules", "rules_file", type=click.Path(path_type=Path), metavar="FILE.toml",
              help="Rules for frames, see docs/proxy-rules.md.")  # fmt: skip
@click.option("--seed", type=int, help="Of every chance; before that of the rules, else 0.")
@click.option("--control", type=listen_address, metavar="HOST:PORT",
              help="Serve toxiproxy's HTTP API and ours here, as at 127.0.0.1:8474.")  # fmt: skip
@click.option("--control-token", "token", envvar=TOKEN_VARIABLE, metavar="TOKEN",
              help="Token that the control API requires; mandatory where other machines can "
              f"reach it. Better in {TOKEN_VARIABLE}.")  # fmt: skip
@click.option("--journal", type=click.Path(path_type=Path), metavar="FILE.jsonl",
              help="Write every event here, one JSON object a line.")  # fmt: skip
@click.option("--capture", type=click.Path(path_type=Path), metavar="FILE.pcap",
              help="Write what passes here, for Wireshark and `codec pcap`; a .pcapng names the "
              "links.")  # fmt: skip
@click.option("--capture-side", "sides", type=click.Choice([each.value for each in Sides]),
              default=Sides.BOTH.value, show_default=True,
              help="The proxies whose connections are captured.")  # fmt: skip
@click.option("--capture-limit", "capture_mib", type=click.IntRange(min=1), default=1024,
              show_default=True, metavar="MIB", help="The capture ends at this size.")  # fmt: skip
@tls_options
def proxy_command(
    upstreams: tuple[Upstream, ...],
    pairs: tuple[Pair, ...],
    listens: tuple[Address, ...],
    advertise: str,
    no_rewrite: bool,
    rules_file: Path | None,
    seed: int | None,
    control: Address | None,
    token: str | None,
    journal: Path | None,
    capture: Path | None,
    sides: str,
    capture_mib: int,
    end_tls: Path | None,
    broker_config: Path | None,
) -> None:
    """Run proxies before a cluster, and apply rules, toxics and cuts to its traffic.

    Clients that connect to a proxy receive no other address: the proxy rewrites those in
    responses, and a broker that appears later gets a proxy of its own. Where the advertised
    addresses cannot be reached from here, --upstream ID=HOST:PORT or --map give those that can.
    A signal (SIGINT, SIGTERM) stops the proxies.

    Exit 0: stopped by a signal; 1: it could not start; 2: usage, or rules that are refused.
    """
    rules = _read_rules(rules_file)
    rewrites = not no_rewrite
    if token is not None and control is None:
        raise click.UsageError("--control-token is for the API of --control")
    if control is not None:
        _require_safe(control, token)
        import_module("harness.proxies.control.server")  # before anything is opened
    if pairs and no_rewrite:
        raise click.UsageError("--map changes addresses in frames, which --no-rewrite leaves alone")
    wanted = WantedProxy(
        upstreams=paired(upstreams, listens),
        reachable=mapping(pairs),
        rules=rules,
        seed=next((one for one in (seed, rules.seed) if one is not None), 0),
        rewrites=rewrites,
        advertise=advertise,
        control=control,
        token=token,
        journal=journal,
        capture=capture,
        sides=Sides(sides),
        capture_bytes=capture_mib * MIB,
        tls=tls_ends(end_tls, broker_config, paired(upstreams, listens), advertise),
    )
    if rewrites and advertise:
        require_distinct(wanted.upstreams, advertise)
    elif rewrites:
        require_reachable(wanted.upstreams)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        is_all_shown = runner.run(_serve(wanted))
    if not is_all_shown:
        os._exit(0)  # Python would wait for a reader that does not read our output


def _read_rules(file: Path | None) -> RulesFile:
    if file is None:
        return RulesFile(())
    try:
        return read_rules_file(file)
    except RulesRefused as refused:
        click.echo(str(refused), err=True)
        click.echo("Error: no rule is armed, and nothing was started", err=True)
        sys.exit(EXIT_REFUSED)


def _require_safe(control: Address, token: str | None) -> None:
    try:
        require_safe(control.host, token)
    except ValueError as error:
        raise click.UsageError(f"{error} (--control-token)") from None


async def _serve(wanted: WantedProxy) -> bool:
    """Serve until a signal; True if all was shown then. Raises ClickException: it cannot start."""
    stop = asyncio.Event()
    at_ending_signals(stop.set)
    async with AsyncExitStack() as stack:
        running = _Running(wanted)
        stack.push_async_callback(running.stop)
        await running.start()
        running.tick()
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), TICK_S)
            running.tick()
        running.display.end()
    return running.is_all_shown


class _Running:
    """The proxies, control API, journal and capture that the options ask for."""

    def __init__(self, wanted: WantedProxy) -> None:
        self._wanted = wanted
        self._journal = _opened("journal", wanted.journal, ProxyJournal)
        self._capture = _opened("capture", wanted.capture, self._new_capture)
        needs_frames = wanted.rewrites or wanted.rules.rules or wanted.control
        self._front = Front(
            wanted.upstreams,
            seed=wanted.seed,
            rewrites=wanted.rewrites,
            sees_frames=bool(needs_frames),
            advertise=wanted.advertise,
            reachable=wanted.reachable,
            tap=self._capture,
            tls=wanted.tls,
            tell=self._tell,
        )
        self._log = EventLog()
        self._control: ControlServer | None = None
        self._has_told_problem = False
        self.is_all_shown = False
        self.display = _display_of(self._front)

    async def start(self) -> None:
        """Arm the rules, then start: no frame passes before."""
        wanted, front = self._wanted, self._front
        self._tell(Event(front.now_ms(), "started", detail=self._beginning()))
        if wanted.rules.rules:
            front.rules.arm(*wanted.rules.rules)
        for each in wanted.upstreams:
            with _at(each.listen, "--listen"):
                await front.add(each)
        if wanted.control:
            from harness.proxies.control.server import ControlServer

            self._control = ControlServer(
                front.proxies,
                listen=wanted.control,
                token=wanted.token,
                rules=front.rules,
                log=self._log,
            )
            with _at(wanted.control, "--control"):
                address = await self._control.start()
            self.display.say(f"control API at http://{Address(*address)}")

    def tick(self) -> None:
        """Update the display and flush the capture; report once that the journal has ended."""
        self.display.tick()
        if self._capture:
            self._capture.flush()
        if self._journal and self._journal.problem and not self._has_told_problem:
            self._has_told_problem = True
            self.display.say(f"the journal has ended: {self._journal.problem}")

    async def stop(self) -> None:
        """Stop every part, even if another raises, in the reverse of the order below."""
        async with AsyncExitStack() as ending:
            ending.callback(self._end_display)
            for file in (self._journal, self._capture):
                if file:
                    ending.callback(file.close)
            ending.push_async_callback(self._front.stop)
            if self._control:
                ending.push_async_callback(self._control.stop)

    def _end_display(self) -> None:
        self.is_all_shown = self.display.close()

    def _tell(self, event: Event) -> None:
        self._log(event)
        self.display(event)
        if self._journal:
            self._journal(event)

    def _new_capture(self, file: Path) -> Capture:
        wanted = self._wanted
        return Capture(
            file,
            sides=wanted.sides,
            limit_bytes=wanted.capture_bytes,
            tell=self._tell,
            now_ms=lambda: self._front.now_ms(),  # noqa: PLW0108  # it is made later
        )

    def _beginning(self) -> dict[str, object]:
        upstreams = {one.name or str(one.address): str(one.address) for one in
                     self._wanted.upstreams}  # fmt: skip
        return {
            "time": datetime.now(UTC).isoformat(),
            "seed": self._wanted.seed,
            "upstreams": upstreams,
            "map": {str(shown): str(to) for shown, to in self._wanted.reachable.items()},
        }


def _display_of(front: Front) -> Display:
    """A table on a terminal where rich is installed, else lines."""
    if sys.stdout.isatty():
        with contextlib.suppress(ModuleNotFoundError):
            from harness.commands.proxy_table import LiveTable, is_screen

            return LiveTable(front) if is_screen() else Lines(front)
    return Lines(front)


def _opened(what: str, file: Path | None, make: Callable[[Path], T]) -> T | None:
    if file is None:
        return None
    try:
        return make(file)
    except OSError as error:
        raise click.ClickException(f"{file}: no {what} can be written: {_why(error)}") from error


@contextlib.contextmanager
def _at(address: Address, option: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            advice = f"the port is taken; give another with {option}, or port 0 for a free one"
        else:
            advice = _why(error)
        raise click.ClickException(f"cannot listen at {address}: {advice}") from error


def _why(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
