"""``kafka-conformance proxy`` before a broker that advertises an unreachable name; its options."""

from __future__ import annotations

import signal

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.client.connection import Connection
from harness.codec.messages import MetadataRequest
from harness.targets.ports import free_ports
from tests.proxies.program import program
from tests.reference_broker import test_clients as clients
from tests.reference_broker.running import create_topic, running_broker


@pytest.mark.rotates(8)
@pytest.mark.parametrize("by", ["node id", "map"])
def test_clients_reach_broker_that_advertises_an_unreachable_name(by: str) -> None:
    (port,) = free_ports(1)
    here, advertised = f"127.0.0.1:{port}", "Kafka.Inside.Invalid:9092"
    words = ["--upstream", f"1={here}"]
    if by == "map":
        words = ["--upstream", here, "--map", f"{advertised.upper()}={here}"]
    settings = {"advertised.listeners": f"PLAINTEXT://{advertised}"}
    with running_broker(settings, port), program(*words) as running:
        first = running.proxy_of(("127.0.0.1", port))
        create_topic(first, "through")
        clients.confluent_produce(first, "through", "none")
        assert len(clients.confluent_consume(first, "through")) == clients.RECORDS
        with Connection(first) as connection:
            (shown,) = connection.ask(MetadataRequest(topics=[]), 9).brokers
        assert (shown.host, shown.port) == first
        running.line(rf"mapped advertised={advertised.lower()} node=1 becomes={first}")
        assert running.signalled(signal.SIGTERM) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Missing option '--upstream'"),
        (["--upstream", "broker"], "must be HOST:PORT, not 'broker'"),
        (["--upstream", ":9092"], "':9092' has no host"),
        (["--upstream", "a/b=h:1"], "a name has letters"),
        (["--upstream", "h:0"], "a port from 1 to 65535, not 0"),
        (["--upstream", "h:1", "--upstream", "h:1"], "two upstreams are called 'h:1'"),
        (["--upstream", "h:1", "--upstream", "h:2", "--listen", "h:3"], "one for each"),
        (["--upstream", "h:1", "--listen", "0.0.0.0:9"], "give with --advertise the host"),
        (["--upstream", "h:1", "--control", "0.0.0.0:9"], "give it a token"),
        (["--upstream", "h:1", "--map", "a:1"], "must be NAME:PORT=HOST:PORT, not 'a:1'"),
        (["--upstream", "h:1", "--map", "a:1=:2"], "':2' has no host"),
        (["--upstream", "h:1", "--map", "a:0=b:2"], "a port from 1 to 65535, not 0"),
        (["--upstream", "h:1", "--map", "fd00::1:9=b:2"], "must be HOST:PORT"),
        (["--upstream", "h:1", "--map", "a:1=b:2=c:3"], "must be HOST:PORT, not 'b:2=c:3'"),
        (
            ["--upstream", "h:1", "--map", "a:1=b:2", "--map", "A:1=c:3"],
            "two places to one advertised address: a:1=b:2 and A:1=c:3",
        ),
        (
            ["--upstream", "h:1", "--map", "[fd00::1]:1=b:2", "--map", "[FD00:0::1]:1=b:3"],
            "two places to one advertised address: [fd00::1]:1=b:2 and [FD00:0::1]:1=b:3",
        ),
        (["--upstream", "h:1", "--map", "a:1=b:2", "--no-rewrite"], "--no-rewrite leaves alone"),
        (
            [
                "--upstream",
                "h:1",
                "--upstream",
                "h:2",
                "--advertise",
                "gate",
                "--listen",
                "127.0.0.1:9",
                "--listen",
                "127.0.0.2:9",
            ],
            "two proxies have the address gate:9",
        ),
        (["--upstream", "h:1", "--control-token", "t"], "is for the API of --control"),
        (["--upstream", "h:1", "--capture-limit", "0"], "0 is not in the range"),
    ],
)
def test_wrong_proxy_options_are_refused_with_usage_error(words: list[str], said: str) -> None:
    ended = CliRunner().invoke(main, ["proxy", *words])
    assert ended.exit_code == 2
    assert said in " ".join(ended.output.split())
