"""``kafka-conformance sweep`` on the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.codec.apis import APIS, api_named
from harness.codec.dictionary_form import to_dict
from harness.codec.header import decode_request_header
from harness.codec.message_codec import decode
from harness.proxies import RunningRelay
from tests.reference_broker.running import running_broker
from tests.sweep.brokers import AdvertisesMore

UNREGISTER_BROKER = 64
API_VERSIONS = 18
METADATA = 3


def _sweep(*words: str) -> Result:
    return CliRunner().invoke(main, ["sweep", *words])


def test_a_dry_run_without_a_target_prints_every_version() -> None:
    ended = _sweep("--dry-run", "--json")
    assert ended.exit_code == 0
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(row["api"], row["version"]) for row in rows] == [
        (api.name, version)
        for api in APIS.values()
        for version in api.valid_versions
        if version not in api.unstable_versions
    ]


def test_dry_run_hex_decodes_to_request_beside_it() -> None:
    for line in _sweep("--dry-run", "--json").stdout.splitlines():
        row = json.loads(line)
        payload = bytes.fromhex(row["hex"])
        header, start = decode_request_header(payload)
        api = api_named(row["api"])
        assert (header.request_api_key, header.request_api_version) == (api.key, row["version"])
        read = decode(api.request, row["version"], payload, start)
        assert to_dict(read, row["version"]) == row["request"]


def test_dry_run_text_contains_safety_request_and_hex() -> None:
    said = _sweep("--dry-run", "--api", "UnregisterBroker").stdout.splitlines()
    assert said[0].startswith("UnregisterBroker v0  destructive  to a broker of its own: takes the")
    assert said[1:] == [
        '    {"broker_id": 2147483647}',
        "    004000000000000100116b61666b612d636f6e666f726d616e6365007fffffff00",
    ]


def test_dry_run_at_target_sends_only_api_versions_and_metadata() -> None:
    rule = AdvertisesMore(UNREGISTER_BROKER)
    with running_broker() as address, RunningRelay(address, rule) as relay:
        spec = f"external:{relay.address[0]}:{relay.address[1]}"
        ended = _sweep("--dry-run", "--json", "--target", spec)
    assert ended.exit_code == 0, ended.output
    rows = {row["api"]: row for row in map(json.loads, ended.stdout.splitlines())}
    assert rows["UnregisterBroker"]["to"] == "nobody"
    assert rows["Fetch"]["to"] == "the target"
    assert "Vote" not in rows
    assert set(rule.asked) == {API_VERSIONS, METADATA}  # the first contact, without topics


def test_sweep_text_reports_outcomes_and_unchanged_cluster() -> None:
    with running_broker() as address:
        ended = _sweep("--target", f"external:{address[0]}:{address[1]}")
    assert ended.exit_code == 0, ended.output
    lines = ended.stdout.splitlines()
    assert any(line.split() == ["Fetch", "read", "0-18", "decoded"] for line in lines)
    assert lines[-1] == "The cluster is unchanged."
    assert "0 wrong; 0 not sent" in lines[-2]


def test_sweep_reports_advertised_api_without_definition() -> None:
    with running_broker() as address, RunningRelay(address, AdvertisesMore(999)) as relay:
        spec = f"external:{relay.address[0]}:{relay.address[1]}"
        ended = _sweep("--target", spec, "--api", "ApiVersions")
    assert ended.exit_code == 0, ended.output
    assert "no definition is known: API keys [999]" in ended.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 2, "a target is needed (--target), or --dry-run"),
        (("--dry-run", "--api", "Fech"), 2, "no API is named 'Fech' - did you mean \"Fetch\"?"),
        (("--target", "kafak:4.4.0"), 3, "unknown target 'kafak:4.4.0'"),
        (("--target", "external:127.0.0.1:1"), 3, "nothing listens there"),
    ],
)
def test_wrong_sweep_options_are_reported_with_exit_code(
    words: tuple[str, ...], code: int, message: str
) -> None:
    ended = _sweep(*words)
    assert ended.exit_code == code
    assert message in ended.output
