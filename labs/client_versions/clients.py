"""The clients: release, the packages with its source text, how its table is read.

A new release is a new row of numbers: ``release``, and the SHA-256 and size of its packages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from harness.codec.versions import VersionRange
from harness.targets.client_jar import pinned_client_jars
from labs.client_versions.packages import Package, fetch_package
from labs.client_versions.readers import (
    c_arguments,
    go_kmsg,
    go_struct_tags,
    go_valid_versions,
    java_definitions,
    js_tables,
    numbered_files,
    python_definitions,
    python_unions,
    rust_constants,
)
from labs.client_versions.source_text import Sources, read_sources
from labs.client_versions.version_table import Piece, version_table

JAVA_RELEASE = "4.4.0"


@dataclass(frozen=True, slots=True)
class ByHand:
    """Versions of one API that the reader cannot see, and why; ``none``: it is never sent."""

    versions: str
    why: str


@dataclass(frozen=True, slots=True)
class PinnedClient:
    """A client; ``by_hand``: API name -> the versions that replace those that were read."""

    name: str
    release: str
    packages: tuple[Package, ...]
    read: Callable[[Sources], Iterable[Piece]]
    by_hand: Mapping[str, ByHand] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The packages with their checksums, for the client file."""
        return ", ".join(f"{one.title} (SHA-256 {one.sha256})" for one in self.packages)

    def versions(self) -> dict[str, VersionRange]:
        """The table, from packages that are fetched if need be.

        Raises PackageError for a package that cannot be had, ReadError for another source text
        than the reader expects.
        """
        sources = read_sources([fetch_package(one) for one in self.packages])
        ranges = {api: VersionRange.parse(one.versions) for api, one in self.by_hand.items()}
        return version_table(self.read(sources), ranges)


def _java() -> PinnedClient:
    jar = pinned_client_jars()[JAVA_RELEASE]
    return PinnedClient(
        "kafka-clients",
        JAVA_RELEASE,
        (Package("maven", jar.artifact, JAVA_RELEASE, jar.sha256, jar.size_bytes),),
        java_definitions.read,
        {
            "Produce": ByHand("3-13", "0 to 2 are placeholders (KAFKA-18659)"),
            "AddPartitionsToTxn": ByHand("0-3", "4 and higher are sent between brokers"),
        },
    )


_GROUPS = "the highest is a parameter of the function, which its callers leave at the default"
CLIENTS = {
    one.name: one
    for one in (
        _java(),
        PinnedClient(
            "librdkafka",
            "2.15.1",
            (Package("npm", "@confluentinc/kafka-javascript", "1.10.1",
                     "ada7d703bb1d3237e2292bfabf438d663b6160c9f1ac2a2406b5dc4257c81b66",
                     2_771_395),),
            c_arguments.read,
            {
                "ApiVersions": ByHand("0-3", "begins with 3, goes on with what the broker names"),
                "ListGroups": ByHand("0-5", _GROUPS),
                "DescribeGroups": ByHand("0-5", _GROUPS),
                "AlterUserScramCredentials": ByHand(
                    "0", "sent where DescribeUserScramCredentials 0 is there"
                ),
            },
        ),
        PinnedClient(
            "franz-go",
            "1.22.3",
            (
                Package("go", "github.com/twmb/franz-go", "1.22.3",
                        "dba2c9bf27fbbcc47039630d6027c964e18ce36f73b67fd0301174d775fcfde0",
                        1_021_298),
                Package("go", "github.com/twmb/franz-go/pkg/kmsg", "1.15.1",
                        "0b6144e851db513991ee204135347523e2fe028006a347fbe0efe781d6f7db60",
                        181_606),
                Package("go", "github.com/twmb/franz-go/pkg/kadm", "1.20.0",
                        "89e9d7e984806e2b917bcb5b5827fac63dbfe9e49faa57d1eb66b0f7e27c8481",
                        88_226),
            ),
            go_kmsg.read,
            {"Produce": ByHand("0-13", "kgo writes it without kmsg: sink.go, produceRequest")},
        ),
        PinnedClient(
            "sarama",
            "1.61.1",
            (Package("go", "github.com/IBM/sarama", "1.61.1",
                     "a5ad3d6018945af59d4c851ee398784561e1c21bf99f870a4ff1fe4a5f3d9082",
                     742_037),),
            go_valid_versions.read,
        ),
        PinnedClient(
            "kafka-go",
            "0.4.51",
            (Package("go", "github.com/segmentio/kafka-go", "0.4.51",
                     "2ce854a2dff96c98deeaf93c24925de64db859f5cded5ad18e57a83c860bbefa",
                     502_755),),
            go_struct_tags.read,
        ),
        PinnedClient(
            "kafkajs",
            "2.2.4",
            (Package("npm", "kafkajs", "2.2.4",
                     "c814f61afbb2b42e314a5e17780475e6a15aa47bbd33b126b81123e69b02a6f6",
                     147_178),),
            js_tables.read,
        ),
        PinnedClient(
            "platformatic-kafka",
            "2.12.1",
            (Package("npm", "@platformatic/kafka", "2.12.1",
                     "1e015f638999bb5cc75439a0b62c92853dce3ccf639eed472ee1b077593e81b9",
                     237_275),),
            numbered_files.read,
            {"ApiVersions": ByHand("1-3", "3, and 1 where the broker refuses 3; never 2")},
        ),
        PinnedClient(
            "kafka-python",
            "3.0.12",
            (Package("pip", "kafka-python", "3.0.12",
                     "67add72052e3ad0c37ed9963ebe2b1696adc7f063c64eaf19862c21b69a64a18",
                     614_268),),
            python_definitions.read,
        ),
        PinnedClient(
            "aiokafka",
            "0.14.0",
            (Package("pip", "aiokafka", "0.14.0",
                     "ceb49c78b3e08ed3f9ff85350932ae59788596e8b45c6a4ca5d599337ba261e9",
                     1_071_040),),
            python_unions.read,
            {
                "ApiVersions": ByHand("0", "sent before the versions are known, so in its first"),
                "JoinGroup": ByHand("0-5", "0 to 2 and 5: where the highest is 3 or 4, it sends 2"),
                "SyncGroup": ByHand("0-3", "0, 1 and 3: where the highest is 2, it sends 1"),
            },
        ),
        PinnedClient(
            "rskafka",
            "0.6.0",
            (Package("cargo", "rskafka", "0.6.0",
                     "849b87417a191e37e16b8893eba8928bbd10e1989e6b57c4f8531549eaa29bdc",
                     136_463),),
            rust_constants.read,
        ),
    )
}  # fmt: skip
"""By name, as in the names of the client files."""
