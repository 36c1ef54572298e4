"""Options after ``docker:``."""

from pathlib import Path

import pytest

from harness.targets.containers.image_contract import (
    ContainerAddresses,
    image_capabilities,
    new_cluster_id,
)
from harness.targets.containers.options import ContainerOptions, read_options
from harness.targets.containers.target import DockerTarget
from harness.targets.errors import TargetError
from harness.targets.spec import parse_target
from harness.targets.target import BROKER_CONFIG, DISCONNECT_NODE, LOG_DIRECTORY

PLACE = ContainerAddresses("0.0.0.0", 9092, "127.0.0.1", 40000, 9093)


def test_image_without_options_uses_defaults() -> None:
    target = parse_target("docker:apache/kafka:4.1.0")
    assert isinstance(target, DockerTarget)
    assert target.options == ContainerOptions("docker:apache/kafka:4.1.0", "apache/kafka:4.1.0")
    assert (target.implementation, target.release) == ("kafka", "4.1.0")
    assert DISCONNECT_NODE in target.capabilities
    assert not {BROKER_CONFIG, LOG_DIRECTORY} & target.capabilities


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("kafka", ("kafka", "unknown")),
        ("host.test:5000/team/kafka", ("kafka", "unknown")),
        ("host.test:5000/team/kafka:7", ("kafka", "7")),
        ("kafka:7@sha256:" + "0" * 64, ("kafka", "7")),
        ("kafka:7,implementation=Apache Kafka,release=7.1", ("Apache Kafka", "7.1")),
    ],
)
def test_implementation_and_release_come_from_image_name_or_options(
    image: str, said: tuple[str, str]
) -> None:
    target = DockerTarget(read_options(image))
    assert (target.implementation, target.release) == said


def test_all_options_are_read(tmp_path: Path) -> None:
    file = tmp_path / "broker.env"
    file.write_text("# listeners\n\nLISTENERS=A://:{listen_port},B://:1\nMODE=file\n")
    options = read_options(
        f"broker,network=host,port=7,env_file={file},env.MODE=option,env.ID={{cluster_id}},"
        "command=run --at '{host}:{port}'"
    )
    assert (options.network, options.port) == ("host", 7)
    assert options.environment == {
        "LISTENERS": "A://:{listen_port},B://:1",
        "MODE": "option",
        "ID": "{cluster_id}",
    }
    assert options.command == ("run", "--at", "{host}:{port}")
    assert DISCONNECT_NODE not in DockerTarget(options).capabilities


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        (None, ["an image is missing"]),
        ("", ["an image is missing"]),
        (",port=1", ["an image is missing"]),
        ("a,b", ["'b' is no option", "env_file"]),
        ("a,env.L=X://:1,Y://:2", ["'Y://:2' is no option", "env_file"]),
        ("a,netwrok=host", ["netwrok", 'did you mean "network"']),
        ("a,network=hots", ["network=hots", 'did you mean "host"']),
        ("a,port=0", ["port=0", "1 to 65535"]),
        ("a,port=65536", ["port=65536"]),
        ("a,port=x", ["port=x"]),
        ("a,port=" + "9" * 5000, ["no such port"]),
        ("a,port=1,port=2", ["twice"]),
        ("a,env.=1", ["'' is no name"]),
        ("a,env.1A=1", ["'1A' is no name"]),
        ("a,env.A={prot}", ["{prot}", 'did you mean "port"', "{prot}"]),
        ("a,command=x {dir}", ["{dir}", "controller_port"]),
        ("a,command=x 'y", ["command=x 'y", "quotation"]),
        ("a,env_file=no/such", ["env_file=no/such", "No such file"]),
    ],
)
def test_invalid_options_raise_target_error(rest: str | None, words: list[str]) -> None:
    with pytest.raises(TargetError) as caught:
        read_options(rest)
    for each in words:
        assert each in str(caught.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"A=1\nB\n", ["line 2", "'B'"]),
        (b"A B=1\n", ["line 1", "'A B' is no name"]),
        (b"A=\xff\n", ["not UTF-8"]),
        (b"A={nothing}\n", ["{nothing}"]),
    ],
)
def test_invalid_env_file_raises_target_error(
    tmp_path: Path, data: bytes, words: list[str]
) -> None:
    file = tmp_path / "broker.env"
    file.write_bytes(data)
    with pytest.raises(TargetError) as caught:
        read_options(f"a,env_file={file}")
    for each in words:
        assert each in str(caught.value)


def test_settings_are_joined_as_lines_and_reject_line_ends() -> None:
    assert PLACE.values({"a.b": "1", "c": "x,y"})["settings"] == "a.b=1\nc=x,y\n"
    for bad in ("a\nb", "a\\b"):
        with pytest.raises(TargetError, match="line end or a backslash"):
            PLACE.values({"name": bad})


def test_cluster_ids_are_unique_and_begin_without_dash() -> None:
    ids = {new_cluster_id() for _ in range(500)}
    assert len(ids) == 500
    assert all(len(each) == 22 and each[0] != "-" for each in ids)


def test_image_labels_determine_capabilities() -> None:
    label = "kafka-conformance.capabilities"
    assert image_capabilities({}, "a") == {"create_topics", "restart_node"}
    assert image_capabilities({label: ""}, "a") == set()
    assert image_capabilities({label: " broker_config\n"}, "a") == {"broker_config"}
    with pytest.raises(TargetError, match="image a names 'pause_node'; an image may name"):
        image_capabilities({label: "pause_node"}, "a")
