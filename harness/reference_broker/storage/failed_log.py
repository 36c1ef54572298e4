"""A log of a folder that has failed: nothing can be done with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.ids import Offset
from harness.reference_broker.state.log.leader_epochs import LeaderEpochs
from harness.reference_broker.state.log.log_store import OpenedLog
from harness.reference_broker.storage.stored_log import StoredLog, Surroundings

if TYPE_CHECKING:
    from harness.reference_broker.state.producers.producer_states import ProducerStates
    from harness.reference_broker.storage.open_files import OpenFiles


def failed_log(path: Path, files: OpenFiles, producers: ProducerStates) -> OpenedLog:
    """Return a log that stands for the one that cannot be used."""
    around = Surroundings(
        files,
        lambda: True,
        lambda _error: None,
        lambda _segment: None,
        lambda _segment, _then: None,
    )
    log = StoredLog(path, around, [], producers, 0)
    return OpenedLog(log, LeaderEpochs(), None, Offset(0))
