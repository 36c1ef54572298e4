"""The form of target string ``docker:IMAGE``."""

from __future__ import annotations

from harness.targets.containers.image_contract import WITHOUT_LABEL
from harness.targets.containers.options import OPTIONS, PUBLISHED, read_options
from harness.targets.containers.target import OF_A_CONTAINER, OF_A_NETWORK, DockerTarget
from harness.targets.kind import Making, TargetKind


def _make(rest: str | None, making: Making) -> DockerTarget:
    return DockerTarget(read_options(rest), log_dir=making.log_dir)


KIND = TargetKind(
    name="docker",
    form="docker:IMAGE[,network=published|host][,port=N][,env.NAME=VALUE...][,env_file=FILE]"
    "[,command=WORDS][,implementation=NAME][,release=VERSION]",
    example="docker:kafka-conformance/reference:latest",
    meaning="a broker in a container of this machine's Docker daemon; its image may say by labels "
    "what more or less it can",
    capabilities=OF_A_CONTAINER | OF_A_NETWORK[PUBLISHED] | WITHOUT_LABEL,
    make=_make,
    options=OPTIONS,
)
