"""``kafka-conformance versions`` at the built-in broker: text, JSON, exit codes."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.codec.apis import api_named
from harness.commands import versions
from harness.targets.info import TargetInfo, probe
from harness.targets.target import Target
from tests.targets import kinds

LIBRDKAFKA = ("--client", "librdkafka-2.16", "reference")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["versions", *words])


@pytest.fixture(scope="module")
def told() -> Result:
    kinds.need_reference()
    return run("--client", "librdkafka-2.16", "--json", "reference")


def test_json_contains_negotiated_apis_and_features(told: Result) -> None:
    found = json.loads(told.stdout)
    assert found["client"] == "librdkafka-2.16.0"
    (target,) = found["targets"]
    assert target["target"] == "reference"
    assert target["answers_api_versions"] is True
    rows = {row["api"]: row for row in target["apis"]}
    assert rows["Produce"] == {"api": "Produce", "client": "0-10", "broker": "0-13", "version": 10}
    assert list(rows) == sorted(rows, key=lambda name: api_named(name).key)
    features = {row["feature"]: row for row in target["features"]}
    assert features["ZSTD"]["kept"] is True
    assert features["SaslAuthReq"]["missing"] == ["SaslAuthenticate 0+ (the broker has none)"]


def test_lost_feature_exits_1(told: Result) -> None:
    assert told.exit_code == 1


def test_text_names_lost_feature_and_missing_api() -> None:
    kinds.need_reference()
    found = run("--client", "librdkafka", "reference")
    assert found.exit_code == 1
    assert "reference: without SaslAuthReq (" in found.stdout
    assert "lacks SaslAuthenticate 0+ (the broker has none)" in found.stdout


OLD = """
client = "old"
release = "1"
source = "https://issues.apache.org/jira/browse/KAFKA-19444"
without_api_versions = "it gives up"

[versions]
"""


@pytest.fixture(scope="module")
def old_client(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Result]:
    """Run the command with a client of these versions."""
    kinds.need_reference()

    def with_versions(versions: str) -> Result:
        path = tmp_path_factory.mktemp("client") / "old-1.toml"
        path.write_text(OLD + versions, "utf-8")
        return run("--client", str(path), "reference")

    return with_versions


def test_client_without_common_versions_exits_1_and_each_api_is_named(
    old_client: Callable[[str], Result],
) -> None:
    found = old_client('CreateTopics = "0-1"\nDeleteTopics = "0"\nMetadata = "4"\n')
    assert found.exit_code == 1
    apart = "CreateTopics (client 0-1, broker 2-7), DeleteTopics (client 0, broker 1-6)"
    assert f"reference: no common version of {apart}\n" in found.stdout
    assert "cannot use this broker" not in found.stdout
    assert "nothing is lost" not in found.stdout


def test_absent_api_exits_1(old_client: Callable[[str], Result]) -> None:
    found = old_client('Metadata = "4"\nUpdateFeatures = "1"\n')
    assert found.exit_code == 1
    assert "reference: the broker has no UpdateFeatures\n" in found.stdout


def test_client_with_a_version_of_each_api_loses_nothing(
    old_client: Callable[[str], Result],
) -> None:
    found = old_client('Metadata = "0-1"\nCreateTopics = "1-2"\n')
    assert found.exit_code == 0
    assert "reference: nothing is lost\n" in found.stdout


def test_broker_that_advertises_no_features_is_compared() -> None:
    kinds.need_reference()
    found = run("--client", "librdkafka-2.16", "reference,like=1.1.1")
    assert found.exit_code == 1
    assert "without ConsumerProtocol (" in found.stdout


def test_apis_of_a_vendor_and_of_a_later_kafka_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds.need_reference()

    def with_unknown(target: Target) -> TargetInfo:
        info = probe(target)
        more = {10_003: (0, 1), 300: (2, 2)}
        return replace(info, api_versions={**info.api_versions, **more})

    monkeypatch.setattr(versions, "probe", with_unknown)
    names = ["API 300 (in no known release of Kafka) v2", "API 10003 (of a vendor) v0-1"]
    assert f"Apache Kafka does not have: {', '.join(names)}\n" in run(*LIBRDKAFKA).stdout
    (target,) = json.loads(run(*LIBRDKAFKA, "--json").stdout)["targets"]
    assert target["unknown_apis"] == names


@pytest.mark.kafka
@pytest.mark.rotates(20)
def test_broker_without_api_versions_is_compared() -> None:
    kinds.need_kafka("0.8.2.2")
    found = run("--client", "librdkafka-2.16", "kafka:0.8.2.2")
    assert found.exit_code == 1, found.output
    assert "kafka:0.8.2.2: does not answer ApiVersions; librdkafka-2.16.0: " in found.stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--client", "librdkafak-2.16", "reference"], 2, 'did you mean "librdkafka-2.16.0"?'),
        (["--client", "librdkafka", "referense"], 2, "did you mean"),
        (["reference"], 2, "--client"),
        (["--client", "librdkafka"], 2, "TARGET"),
        (["--client", "librdkafka", "external:127.0.0.1:1"], 3, "nothing listens there"),
    ],
)
def test_wrong_usage_exits_2_and_unreachable_target_exits_3(
    words: list[str], code: int, says: str
) -> None:
    found = run(*words)
    assert found.exit_code == code
    assert says in found.output
