"""A batch that may not be appended: the error that the producer gets."""

from dataclasses import dataclass

from harness.codec.error_code import ErrorCode


@dataclass(frozen=True, slots=True)
class RecordProblem:
    """One record that is at fault: its place in the batch, from 0, and why."""

    batch_index: int
    message: str


class AppendRefused(Exception):
    """Nothing of the batch was appended.

    `tells_log_start` follows Kafka: errors which its replica layer knows by class answer with
    log start offset -1, all others with the real one. `message` is for the client, None where
    Kafka sends none; `reason` is for our own log.
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
