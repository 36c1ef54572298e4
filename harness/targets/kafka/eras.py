"""Differences between releases of Kafka in the configuration and start of a broker, as tables.

The source is ``kafka.server.KafkaConfig`` of each release, tried with every pinned one.
"""

from __future__ import annotations

from enum import Enum

from harness.targets.errors import TargetError
from harness.targets.kafka.release import release_key


class Mode(Enum):
    """The system that coordinates the brokers."""

    ZK = "zk"
    KRAFT = "kraft"


class Listeners(Enum):
    """The settings that contain a broker's listeners."""

    PORT = "port and host.name, which is also what is advertised"
    ADVERTISED_PORT = "port, host.name, advertised.port, advertised.host.name"
    BY_PROTOCOL = "listeners and advertised.listeners, one for each security protocol"
    NAMED = "listeners with names of their own, mapped to security protocols"


class Fact(Enum):
    """A property that a release may have; the value describes it."""

    BROKERS_SHOWN = "Metadata shows the live brokers before there is a topic"
    API_VERSIONS = "answers ApiVersions"
    RACKS = "broker.rack"
    OUTLIVES_SESSIONS = "registers anew when its ZooKeeper session has ended (KAFKA-1387)"
    DELETION_ENDS = "deleting topics does not stop its controller for good (KAFKA-1558)"
    TOPIC_DELETION = "topics can be deleted without a setting"
    SNAPPY_IN_MODULES = "its snappy loads on a Java with modules"
    LOG4J2 = "logs with Log4j 2"
    INTER_BROKER_PROTOCOL = "inter.broker.protocol.version"
    MESSAGE_FORMAT = "log.message.format.version"
    MIGRATION = "ZooKeeper's metadata can move to KRaft (KIP-866), fit for production"
    METADATA_VERSION = "KRaft's log contains a metadata.version (KIP-778)"
    NEEDS_METADATA_VERSION = "KRaft without a metadata.version from 3.3 on is refused"
    FORMAT = "KRaft; folders are formatted first"
    KRAFT_DIRECTORIES = "KRaft with several log directories (KIP-858)"
    KRAFT_USERS = "KRaft with users of SCRAM (KIP-900)"
    KRAFT_DEFAULT = "KRaft is declared fit for production (KIP-833)"
    CONTROLLER_ADVERTISES = "a controller may, and then must, advertise its address (KIP-853)"


_LISTENERS = (
    ("0.10.2", Listeners.NAMED),
    ("0.9", Listeners.BY_PROTOCOL),
    ("0.8.1", Listeners.ADVERTISED_PORT),
    ("0.8", Listeners.PORT),
)
_SINCE = {
    Fact.BROKERS_SHOWN: "0.9",
    Fact.OUTLIVES_SESSIONS: "0.9",
    Fact.API_VERSIONS: "0.10.0",
    Fact.RACKS: "0.10.0",
    Fact.SNAPPY_IN_MODULES: "0.8.2",
    Fact.DELETION_ENDS: "0.8.2",
    Fact.TOPIC_DELETION: "1.0",
    Fact.FORMAT: "2.8",
    Fact.KRAFT_DEFAULT: "3.3",
    Fact.KRAFT_USERS: "3.5",
    Fact.KRAFT_DIRECTORIES: "3.7",
    Fact.CONTROLLER_ADVERTISES: "3.9",
    Fact.LOG4J2: "4.0",
    Fact.INTER_BROKER_PROTOCOL: "0.9",
    Fact.MESSAGE_FORMAT: "0.10.0",
    Fact.MIGRATION: "3.6",
    Fact.METADATA_VERSION: "3.3",
    Fact.NEEDS_METADATA_VERSION: "4.0",
}
METADATA_UNREADABLE = frozenset({"2.8.2"})
"""Their KRaft nodes read no record with an array from the metadata log, neither from another node
nor at a second start: a limit that came with 2.8.2 (CVE-2022-34917) compares its length with
``InputStream.available()``, which is 0 there. Only 2.8.2 got the limit and kept that reader."""
LAST_ZK_LINE = "3.9"
FIRST_WITHOUT_ZK = "4.0"


def _is_at_least(release: str, since: str) -> bool:
    return release_key(release) >= release_key(since)


def listeners_of(release: str) -> Listeners:
    """Return the listener settings of a release. Raises TargetError before 0.8."""
    for since, listeners in _LISTENERS:
        if _is_at_least(release, since):
            return listeners
    raise TargetError(f"Kafka {release} is older than 0.8.0, the first that can be run")


def knows(release: str, fact: Fact) -> bool:
    """True if a release has the property."""
    return _is_at_least(release, _SINCE[fact])


def reads_metadata_log(release: str, mode: Mode) -> bool:
    """True if a node can read from KRaft's metadata log what others wrote; True with ZooKeeper."""
    return mode is Mode.ZK or release not in METADATA_UNREADABLE


def modes_of(release: str) -> list[Mode]:
    """Return the modes that a release has, the default first."""
    modes = []
    if not _is_at_least(release, FIRST_WITHOUT_ZK):
        modes.append(Mode.ZK)
    if knows(release, Fact.FORMAT):
        modes.insert(0 if knows(release, Fact.KRAFT_DEFAULT) else len(modes), Mode.KRAFT)
    return modes


def choose_mode(release: str, wanted: str | None) -> Mode:
    """The mode of that name, or the usual one of the release. Raises TargetError."""
    modes = modes_of(release)
    if wanted is None:
        return modes[0]
    names = [mode.value for mode in Mode]
    if wanted not in names:
        raise TargetError(f"unknown mode {wanted!r}; the modes are: {', '.join(names)}")
    mode = Mode(wanted)
    if mode in modes:
        return mode
    if mode is Mode.ZK:
        raise TargetError(
            f"Kafka {release} has no ZooKeeper mode: it ended with {LAST_ZK_LINE}; "
            "leave mode=zk out"
        )
    raise TargetError(
        f"Kafka {release} has no KRaft mode: it began with {_SINCE[Fact.FORMAT]}; "
        "leave mode=kraft out"
    )
