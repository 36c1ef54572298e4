"""Errors for a batch that the broker does not append."""

from dataclasses import dataclass

from harness.codec.error_code import ErrorCode


@dataclass(frozen=True, slots=True)
class RecordProblem:
    """One invalid record: its position in the batch, from 0, and the reason."""

    batch_index: int
    message: str


class AppendRefused(Exception):
    """The broker has appended nothing of the batch.

    `tells_log_start` follows Kafka: for errors that its replica layer handles by class, the
    response contains log start offset -1, for all others the real one. `message` is sent to the
    client, None where Kafka sends none; `reason` is for our own log.
    """

    def __init__(
        self,
        error: ErrorCode,
        message: str | None = None,
        record_problems: tuple[RecordProblem, ...] = (),
        tells_log_start: bool = False,
        reason: str | None = None,
    ) -> None:
        super().__init__(reason or message or error.name)
        self.error = error
        self.message = message
        self.record_problems = record_problems
        self.tells_log_start = tells_log_start
