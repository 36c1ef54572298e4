"""The process of one client: ``python -m labs.clients_under_faults.one_client CLIENT JOB``."""

from __future__ import annotations

import faulthandler
import importlib
import logging
import signal
import sys
import warnings
from importlib.metadata import version

from labs.clients_under_faults.job import Job
from labs.clients_under_faults.notes import ClientNotes

DRIVERS = {"confluent-kafka": "confluent", "kafka-python": "kafka_python", "aiokafka": "aio"}
"""By the name of the distribution."""


def release_of(client: str) -> str:
    """Return ``name version`` of the installed distribution."""
    return f"{client} {version(client)}"


def main(client: str, job: Job) -> None:
    """Do the job; the warnings of a client about its own code are ignored."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # for a client that hangs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        driver = importlib.import_module(f"labs.clients_under_faults.drivers.{DRIVERS[client]}")
    notes = ClientNotes(job)
    notes.begin()
    driver.run(job, notes)


if __name__ == "__main__":
    main(sys.argv[1], Job.from_json(sys.argv[2]))
