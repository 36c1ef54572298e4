"""``python -m labs.old_java_clients --target SPEC RELEASE...``: calls of old Java clients.

KIP-896 removed versions that they need. A failed call is a finding: exit 0 also then;
2: usage, or something is not there.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from harness.clients.java_program import FLAGS, JavaProgram
from harness.targets.errors import TargetError
from harness.targets.java import JavaError, find_java
from harness.targets.pinned_file import DownloadError
from harness.targets.spec import parse_target

FOLDER = Path(__file__).with_name("java")
MAIN = "old.Calls"
WHOLE_S = 600


@click.command()
@click.option("--target", default="kafka:4.4.0", show_default=True)
@click.argument("releases", nargs=-1, required=True)
def main(target: str, releases: tuple[str, ...]) -> None:
    """Make calls with the Java clients of RELEASES, such as 1.0.2, and print the result of each.

    Of releases from 0.11 to 3.9, each with a topic of its own.
    """
    try:
        with (
            tempfile.TemporaryDirectory(prefix="old-java-clients-") as folder,
            parse_target(target, log_dir=Path(folder)) as started,
        ):
            bootstrap = ",".join(map(str, started.addresses))
            for release in releases:
                for name, outcome in calls(release, bootstrap, f"calls-of-{release}"):
                    click.echo(f"{release}\t{name}\t{outcome}")
    except (TargetError, JavaError, DownloadError) as error:
        raise click.UsageError(str(error)) from error


def calls(release: str, bootstrap: str, topic: str) -> Iterator[tuple[str, str]]:
    """Yield the calls of a release and the outcome of each: "did", or an error.

    Raises JavaError or DownloadError: what they need is not there.
    """
    program = JavaProgram(FOLDER, release, (release,))
    words = [str(find_java().executable), *FLAGS, "-cp", program.class_path(), MAIN]
    done = subprocess.run(
        [*words, bootstrap, topic], capture_output=True, text=True, check=False, timeout=WHOLE_S
    )
    if done.returncode:
        raise JavaError(f"the clients of {release} ended with {done.returncode}: {done.stderr}")
    for line in done.stdout.splitlines():
        name, tab, outcome = line.partition("\t")
        if tab:
            yield name, outcome


if __name__ == "__main__":
    main()
