"""Pin the artifacts of releases of Kafka: ``python -m harness.targets.kafka.pin RELEASE...``

Needs Maven, which resolves each release once; its rows then replace those in
``data/kafka_artifacts.tsv``, all other rows stay. With ``--check`` nothing is written: the exit
code is 1 if the pins of a release would change.

Rows are sorted by release, those of one release in the order of the classpath. The tables below
contain what a pom does not: the Scala line, dependencies that were never published or cannot be
had, and jars that a release needs on a new Java or to print its log.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import click

from harness.targets.artifacts import COLUMNS, Artifact, parse_pins
from harness.targets.errors import TargetError
from harness.targets.kafka.release import release_key
from harness.targets.maven import local_repository

PINS = Path(__file__).parents[1] / "data" / "kafka_artifacts.tsv"
GROUP = "org.apache.kafka"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"  # older ones lose the order
MAVEN_TIMEOUT_S = 900
TAIL_LINES = 15

SCALA_LINES = (("2.4", "2.13"), ("0.10.1.1", "2.12"), ("0.8.2", "2.11"), ("0.8", "2.10"))
"""First release, and the Scala line that is taken from it on; newest first."""

EXCLUDED = (
    ("0.8", "0.8.2", "com.sun.jdmk:jmxtools"),
    ("0.8", "0.8.2", "com.sun.jmx:jmxri"),
    ("0.8", "0.8.2", "javax.jms:jms"),
    ("0.8", "0.8.2", "javax.mail:mail"),
    ("4.4", "4.5", "org.apache.kafka:kafka-tools-api"),
)
"""From, up to (not included), group and artifact that Maven cannot get."""

EXTRA = (
    # Java 11 and newer have no javax.xml.bind any more.
    ("0.10.1", "1.0", "javax.xml.bind:jaxb-api:2.3.1"),
    # What these releases print goes nowhere without a binding.
    ("1.1", "4.0", "org.slf4j:slf4j-reload4j:1.7.36"),
    ("1.1", "4.0", "ch.qos.reload4j:reload4j:1.2.19"),
    ("4.0", "5.0", "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"),
    ("4.0", "4.1", "org.apache.logging.log4j:log4j-api:2.25.4"),
    ("4.0", "4.1", "org.apache.logging.log4j:log4j-core:2.25.4"),
)
"""From, up to (not included), coordinate of a jar that is added, without what it asks for."""

REPLACED = (
    # 3.4.13 and 3.4.14 cannot resolve addresses on a new Java.
    ("2.0", "2.4", "org.apache.zookeeper:zookeeper:3.4.12"),
)
"""From, up to (not included), coordinate of a jar that is taken in another version."""

_POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>pin</groupId><artifactId>pin</artifactId><version>1</version>
  <dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>
  <dependencies>{dependencies}</dependencies>
</project>
"""


def _in_range(release: str, since: str, until: str) -> bool:
    return release_key(since) <= release_key(release) < release_key(until)


def _for(release: str, table: Iterable[tuple[str, str, str]]) -> list[str]:
    return [what for since, until, what in table if _in_range(release, since, until)]


def scala_line(release: str) -> str:
    """Return the Scala line of the build to pin for a release. Raises TargetError before 0.8."""
    for since, line in SCALA_LINES:
        if release_key(release) >= release_key(since):
            return line
    raise TargetError(f"Kafka {release} is older than 0.8.0, the first that can be pinned")


def pom_of(release: str) -> str:
    """Return a pom; a release is started with its runtime classpath."""
    broker = f"{GROUP}:kafka_{scala_line(release)}:{release}"
    extra = _for(release, EXTRA)
    dependencies = [_dependency(broker, _for(release, EXCLUDED))]
    dependencies += [_dependency(coordinate, ["*:*"]) for coordinate in extra]
    managed = [_dependency(coordinate, []) for coordinate in [*extra, *_for(release, REPLACED)]]
    return _POM.format(managed="".join(managed), dependencies="".join(dependencies))


def _dependency(coordinate: str, exclusions: Iterable[str]) -> str:
    group, artifact, version = map(escape, coordinate.split(":"))
    names = [name.split(":") for name in exclusions]
    excluded = "".join(
        f"<exclusion><groupId>{g}</groupId><artifactId>{a}</artifactId></exclusion>"
        for g, a in names
    )
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version><exclusions>{excluded}</exclusions></dependency>"
    )


def resolve(release: str) -> list[Artifact]:
    """Ask Maven for a release; its artifacts in classpath order.

    Raises TargetError: no Maven, or it cannot resolve the release.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise TargetError("Maven is needed to pin a release, and there is no mvn on PATH")
    repository = local_repository().absolute()
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-pin-") as name:
        folder = Path(name)
        (folder / "pom.xml").write_text(pom_of(release), "utf-8")
        words = [maven, "-B", "-C", f"{PLUGIN}:build-classpath", "-DincludeScope=runtime"]
        words += ["-Dmdep.outputFile=classpath", f"-Dmaven.repo.local={repository}"]
        try:
            done = subprocess.run(
                words, cwd=folder, capture_output=True, text=True, check=False,
                stdin=subprocess.DEVNULL, timeout=MAVEN_TIMEOUT_S,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise TargetError(f"Kafka {release}: Maven cannot be run: {problem}") from problem
        if done.returncode:
            last = "\n".join(done.stdout.splitlines()[-TAIL_LINES:])
            raise TargetError(f"Kafka {release} cannot be resolved; Maven says:\n{last}")
        jars = [Path(word) for word in (folder / "classpath").read_text().strip().split(":")]
    extra = [*_for(release, EXTRA), *_for(release, REPLACED)]
    return [artifact_at(release, jar, repository, extra) for jar in jars]


def artifact_at(release: str, jar: Path, repository: Path, extra: Iterable[str]) -> Artifact:
    """The pin of a jar by its path in Maven's local repository and its content."""
    *group, name, version, file = jar.relative_to(repository).parts
    classifier = file.removeprefix(f"{name}-{version}").removesuffix(".jar").removeprefix("-")
    content = jar.read_bytes()
    coordinate = ":".join((".".join(group), name, version))
    return Artifact(
        release=release,
        group=".".join(group),
        artifact=name,
        version=version,
        classifier=classifier or None,
        sha256=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
        origin="extra" if coordinate in extra else "pom",
    )


def pins_text(pins: Mapping[str, Sequence[Artifact]]) -> str:
    """The file of pins; releases of Kafka by number, then everything else by name."""
    text = io.StringIO()
    rows = csv.writer(text, delimiter="\t", lineterminator="\n")
    rows.writerow(COLUMNS)
    numbered = sorted((name for name in pins if name[0].isdigit()), key=release_key)
    for release in [*numbered, *sorted(name for name in pins if not name[0].isdigit())]:
        for pin in pins[release]:
            words = (pin.release, pin.group, pin.artifact, pin.version, pin.classifier or "-")
            rows.writerow((*words, pin.sha256, pin.size_bytes, pin.origin))
    return text.getvalue()


def main(arguments: Sequence[str]) -> int:
    """Pin or check the releases of the command line; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m harness.targets.kafka.pin")
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    parser.add_argument("releases", nargs="+", metavar="RELEASE")
    given = parser.parse_args(arguments)
    pins: dict[str, Sequence[Artifact]] = dict(parse_pins(PINS.read_text("utf-8")))
    differ = False
    try:
        for release in given.releases:
            found = resolve(release)
            same = list(pins.get(release, ())) == found
            differ |= not same
            pins[release] = found
            size_mib = sum(each.size_bytes for each in found) >> 20
            state = "as it was" if same else "otherwise than before"
            click.echo(f"{release}: {len(found)} artifacts, {size_mib} MiB, {state}")
    except TargetError as problem:
        click.echo(problem, err=True)
        return 2
    if given.check:
        return int(differ)
    new = PINS.with_suffix(".new")
    new.write_text(pins_text(pins), "utf-8")
    new.replace(PINS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
