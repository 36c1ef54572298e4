"""Listeners in a cluster behind proxies, in every era."""

from pathlib import Path

import pytest

from harness.base.address import Address
from harness.targets.errors import TargetError
from harness.targets.kafka.broker_config import server_properties
from harness.targets.kafka.eras import Mode, choose_mode
from harness.targets.kafka.hosts_file import write_hosts
from harness.targets.kafka.link_plan import LinkedPlan
from harness.targets.kafka.plan import NodePlan

ERAS = ["0.8.0", "0.8.1.1", "0.9.0.1", "0.10.1.1", "0.10.2.2", "3.9.2", "4.4.0"]


class Planned:
    """A plan with ports that count up from 1000."""

    def __init__(self, release: str, mode: str | None = None, brokers: int = 3) -> None:
        plan = LinkedPlan(release, choose_mode(release, mode), brokers, {})
        self.addresses = [Address("127.0.0.1", 1000 + number) for number in range(plan.ports)]
        self.nodes: NodePlan = plan.nodes(Path("/data"), self.addresses)
        self.links = {
            f"{link.source}->{link.destination}": (str(link.listen), str(link.upstream))
            for link in plan.links(self.addresses)
        }

    def properties(self, broker: int) -> dict[str, str]:
        every = {each.node_id: each for each in (*self.nodes.brokers, *self.nodes.controllers)}
        node = every[broker]
        return dict(line.split("=", 1) for line in server_properties(node).splitlines())


def test_links_of_named_listeners_and_controller() -> None:
    planned = Planned("4.4.0")
    expected = {
        "listeners": "INTERNAL://127.0.0.1:1005,CLIENT://127.0.0.1:1004",
        "advertised.listeners": "INTERNAL://b:1005,CLIENT://127.0.0.1:1003",
        "inter.broker.listener.name": "INTERNAL",
        "controller.quorum.voters": "100@ctl:1009",
    }
    assert expected.items() <= planned.properties(2).items()
    assert planned.links["client->2"] == ("127.0.0.1:1003", "127.0.0.1:1004")
    assert planned.links["3->2"] == ("127.1.3.1:1005", "127.0.0.1:1005")
    assert planned.links["2->2"] == ("127.1.2.1:1005", "127.0.0.1:1005")
    assert planned.links["2->controller"] == ("127.1.2.2:1009", "127.0.0.1:1009")
    assert planned.nodes.brokers[1].hosts["ctl"] == "127.1.2.2"
    assert planned.nodes.brokers[1].hosts["localhost"] == "127.0.0.1"
    assert planned.nodes.zookeeper is None


@pytest.mark.parametrize(("release", "told"), [("4.4.0", True), ("3.9.2", True), ("3.8.1", False)])
def test_controller_advertises_its_name_since_3_9(release: str, told: bool) -> None:
    properties = Planned(release, "kraft").properties(100)
    assert properties["listeners"] == "CONTROLLER://127.0.0.1:1009"
    assert properties["controller.quorum.voters"] == "100@ctl:1009"
    assert properties.get("advertised.listeners") == ("CONTROLLER://ctl:1009" if told else None)


def test_links_to_zookeeper_have_host_names() -> None:
    planned = Planned("0.10.2.2")
    assert planned.properties(3)["zookeeper.connect"] == "zk:1009"
    assert planned.links["3->zookeeper"] == ("127.1.3.3:1009", "127.0.0.1:1009")
    assert planned.nodes.zookeeper == Address("127.0.0.1", 1009)
    assert planned.nodes.controllers == ()


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (
            "0.10.1.1",
            {
                "listeners": "PLAINTEXT://127.0.0.1:1003",
                "advertised.listeners": "PLAINTEXT://localhost:1002",
            },
        ),
        (
            "0.8.1.1",
            {
                "host.name": "127.0.0.1",
                "port": "1003",
                "advertised.host.name": "localhost",
                "advertised.port": "1002",
            },
        ),
    ],
)
def test_single_advertised_address_is_linked_by_host_alias(
    release: str, expected: dict[str, str]
) -> None:
    planned = Planned(release)
    assert expected.items() <= planned.properties(2).items()
    assert planned.links["client->2"] == ("127.0.0.1:1002", "127.0.0.1:1003")
    assert planned.links["1->2"] == ("127.1.1.1:1002", "127.0.0.1:1003")
    assert planned.nodes.brokers[0].hosts["localhost"] == "127.1.1.1"


def test_bound_advertised_address_has_no_link_to_itself() -> None:
    planned = Planned("0.8.0")
    assert {"host.name": "localhost", "port": "1001"}.items() <= planned.properties(2).items()
    assert planned.links["client->2"] == ("127.0.0.1:1001", "127.1.2.1:1001")
    assert planned.links["1->2"] == ("127.1.1.1:1001", "127.1.2.1:1001")
    assert "2->2" not in planned.links, "the broker itself has that address"


@pytest.mark.parametrize("release", ERAS)
def test_links_and_servers_use_distinct_addresses(release: str) -> None:
    planned = Planned(release)
    listeners = [listen for listen, _ in planned.links.values()]
    servers = {upstream for _, upstream in planned.links.values()}
    assert len(set(listeners)) == len(listeners)
    assert not servers & set(listeners)
    assert len(servers) >= 4
    own = 0 if release == "0.8.0" else 3
    assert len(planned.links) == 3 + 6 + own + 3


def test_single_linked_broker_has_separate_controller() -> None:
    planned = Planned("4.4.0", brokers=1)
    assert set(planned.links) == {"client->1", "1->1", "1->controller"}
    (controller,) = planned.nodes.controllers
    assert controller.mode is Mode.KRAFT


def test_plan_with_several_controllers_raises_target_error() -> None:
    with pytest.raises(TargetError, match="controllers=3: links lead to one controller"):
        LinkedPlan("4.4.0", Mode.KRAFT, 3, {}, 3)


def test_hosts_file_is_written_only_for_names(tmp_path: Path) -> None:
    assert write_hosts(tmp_path, {}) == []
    (flag,) = write_hosts(tmp_path, {"b": "127.1.1.1", "zk": "127.1.1.3"})
    assert flag == f"-Djdk.net.hosts.file={tmp_path}/hosts"
    assert (tmp_path / "hosts").read_text() == "127.1.1.1 b\n127.1.1.3 zk\n"
