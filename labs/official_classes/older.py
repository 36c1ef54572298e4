"""Older releases, for the layouts that only they spoke: which jars, and the program beside them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from xml.sax.saxutils import escape

from labs.official_classes.maven import build

_GROUP = "org.apache.kafka"
_BROKER = ("kafka-metadata", "kafka-storage", "kafka-group-coordinator")
_LOGS = ("kafka-group-coordinator", "kafka-transaction-coordinator", "kafka-share-coordinator")
OLDER: dict[str, tuple[str, ...]] = {  # the artifacts beside the client
    "2.6.3": (),
    "2.7.2": (),
    "2.8.2": _BROKER[:1],
    "3.1.2": _BROKER[:1],
    "3.2.3": _BROKER[:1],
    "3.3.2": (),
    "3.4.1": _BROKER[:2],
    "3.5.2": _BROKER,
    "3.6.0": (),
    "3.7.2": _BROKER,
    "4.0.2": _LOGS,
    "4.1.1": _LOGS,
    "4.2.0": _LOGS,
    "4.3.1": _LOGS,
}
_PROGRAM = ("CrossCheck", "Messages")  # what uses only what all releases have

_POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>crosscheck</groupId>
  <artifactId>older</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <build><plugins><plugin>
    <artifactId>maven-dependency-plugin</artifactId>
    <version>3.8.1</version>
    <configuration><artifactItems>{items}</artifactItems></configuration>
  </plugin></plugins></build>
</project>
"""
_ITEM = (
    "<artifactItem><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
    "<version>{release}</version><outputDirectory>{folder}</outputDirectory></artifactItem>"
)


def fetched(releases: list[str], compiled_path: str, folder: Path) -> dict[str, str]:
    """The class path of each release; ``compiled_path`` is that of the compiled program.

    One Maven run fetches all jars. Raises like ``maven.build``.
    """
    items = "".join(
        _ITEM.format(
            group=_GROUP,
            artifact=artifact,
            release=release,
            folder=escape(str(folder / release)),
        )
        for release in releases
        for artifact in ("kafka-clients", *OLDER[release])
    )
    pom = folder / "older.xml"
    pom.write_text(_POM.format(items=items), "utf-8")
    build(pom, "dependency:copy", {})
    classes, *jars = compiled_path.split(os.pathsep)
    program = folder / "program" / "crosscheck"
    program.mkdir(parents=True)
    for name in _PROGRAM:
        for file in (Path(classes) / "crosscheck").glob(f"{name}*.class"):
            shutil.copy(file, program)
    beside = [jar for jar in jars if not Path(jar).name.startswith("kafka")]
    return {
        release: os.pathsep.join(
            map(str, (program.parent, *sorted((folder / release).iterdir()), *beside))
        )
        for release in releases
    }
