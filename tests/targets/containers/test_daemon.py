"""Missing SDK, daemon or image: one sentence each, with the remedy."""

import socket
import sys
from pathlib import Path

import pytest

from harness.targets.containers.daemon import asked, connect, daemon_address, find_image
from harness.targets.errors import TargetError
from harness.targets.spec import parse_target
from tests.targets.containers import images
from tests.targets.containers.own_daemon import Daemon


def said_at_start() -> str:
    target = parse_target("docker:some/image:1")
    with pytest.raises(TargetError) as caught:
        target.start()
    assert not target.is_alive()
    target.stop()
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_missing_docker_sdk_raises_target_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    assert said_at_start() == (
        "the docker SDK is not installed: pip install 'kafka-conformance[docker]'"
    )


def test_folder_named_docker_is_not_accepted_as_sdk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docker").mkdir()
    names = [each for each in sys.modules if each.partition(".")[0] == "docker"]
    loaded = {name: sys.modules.pop(name) for name in names}
    here = [each for each in sys.path if not (Path(each) / "docker" / "__init__.py").exists()]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *here])
    try:
        assert "the docker SDK is not installed" in said_at_start()
        assert sys.modules["docker"].__file__ is None, "the folder was imported"
    finally:
        sys.modules.pop("docker", None)
        sys.modules.update(loaded)


def test_missing_docker_daemon_raises_target_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert said_at_start() == (
        f"no Docker daemon answers at unix://{tmp_path}/none.sock (No such file or directory): "
        "start one, or set DOCKER_HOST to where one listens"
    )
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        monkeypatch.setenv("DOCKER_HOST", address)
        assert f"no Docker daemon answers at {address} (Connection refused)" in said_at_start()


def test_docker_permission_denied_raises_target_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from requests.exceptions import ConnectionError as RequestsConnectionError

    monkeypatch.delenv("DOCKER_HOST", raising=False)
    cause = PermissionError(13, "Permission denied")
    with pytest.raises(TargetError) as caught, asked():
        raise RequestsConnectionError("Connection aborted.", cause)
    assert "does not let this user in (Permission denied): run as one who may" in str(caught.value)
    assert daemon_address() == "unix:///var/run/docker.sock"


def test_docker_daemon_on_other_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://docker.test:2375")
    said = said_at_start()
    assert "tcp://docker.test:2375 is on another machine" in said
    assert "external:HOST:PORT" in said


def test_invalid_docker_host_raises_target_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "nonsense://x")
    assert "no Docker daemon answers at nonsense://x" in said_at_start()


def test_unavailable_image_error_suggests_build_command(at_daemon: Daemon) -> None:
    said = said_at_start()
    assert said.startswith("there is no image some/image:1 in the Docker daemon, and it cannot be")
    assert "python -m harness.targets.containers.build" in said


def test_invalid_image_name_raises_target_error(at_daemon: Daemon) -> None:
    client = connect()
    try:
        with pytest.raises(TargetError, match="Not/An Image"):
            find_image(client, "Not/An Image")
    finally:
        client.close()


def test_image_label_with_unknown_capability_raises_target_error(
    at_images: Daemon, tmp_path: Path
) -> None:
    import io

    client = connect()
    text = f'FROM {images.PLAIN}\nLABEL kafka-conformance.capabilities="fly"\n'
    tag = "kafka-conformance-test/flying:1"
    try:
        client.images.build(fileobj=io.BytesIO(text.encode()), tag=tag)
        with pytest.raises(TargetError, match=f"image {tag} names 'fly'; an image may name create"):
            images.docker_target(tag, tmp_path).start()
    finally:
        client.images.remove(tag)
        client.close()
