"""The opening of a log from its folder, with its epochs, producers and offsets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.ids import Offset, TimeMs
from harness.reference_broker.state.log.log_store import OpenedLog
from harness.reference_broker.storage.checkpoints import Noted
from harness.reference_broker.storage.epoch_file import EpochFile
from harness.reference_broker.storage.log_loading import LoadingSettings, LogLoading
from harness.reference_broker.storage.producer_files import ProducerFiles
from harness.reference_broker.storage.stored_log import StoredLog, Surroundings

if TYPE_CHECKING:
    from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
    from harness.reference_broker.state.producers.producer_states import ProducerStates

_BEGIN = Offset(0)


def open_log(
    folder: Path,
    around: Surroundings,
    config: TopicConfig,
    producers: ProducerStates,
    noted: Noted,
    is_clean: bool,
    now: TimeMs,
) -> tuple[OpenedLog, StoredLog]:
    """Open a log; after a clean end its bytes are trusted, else recovered. Raises OSError."""
    noted_epochs = EpochFile(folder)
    epochs = noted_epochs.epochs
    index_bytes = config.number("segment.index.bytes")
    start, point = noted.start or _BEGIN, noted.recovery_point or _BEGIN
    finding = LoadingSettings(is_clean, point, start, config.index_interval_bytes, index_bytes, now)
    loading = LogLoading(folder, around.files, finding, epochs, producers)
    end = loading.run()
    log = StoredLog(folder, around, loading.segments, producers, index_bytes, noted_epochs)
    log.start_offset = max(start, loading.segments[0].base_offset)
    log.end_offset, log.recovery_point = end, end if is_clean else min(point, end)
    if not is_clean:
        log.note_epochs()
    _remember(log, producers, is_clean, now)
    _find_unstable(log, producers)
    dirty = min(max(noted.first_dirty or _BEGIN, log.start_offset), end)
    committed = noted.high_watermark
    log.note_offsets(log.start_offset if committed is None else committed, dirty)
    return OpenedLog(log, epochs, committed, dirty), log


def _remember(log: StoredLog, producers: ProducerStates, is_clean: bool, now: TimeMs) -> None:
    """Restore the producers. A clean log without a snapshot has none (an upgrade from before 0.11).

    Source: UnifiedLog (rebuildProducerState).
    """
    snapshots = ProducerFiles(log.folder)
    snapshots.remove_strays([segment.base_offset for segment in log.segments.all()])
    if is_clean and not snapshots.offsets():
        producers.forget_all()
        log.note_producers()
    else:
        log.remember_producers(producers, now)


def _find_unstable(log: StoredLog, producers: ProducerStates) -> None:
    """Refuse a log in which the first unstable offset cannot be found.

    Readers of committed data need that batch. Source: UnifiedLog
    (maybeIncrementFirstUnstableOffset). Raises OSError, CorruptBatch.
    """
    unstable = producers.first_unstable(log.start_offset)
    if unstable is not None:
        log.batch_begin(max(unstable, log.start_offset))
