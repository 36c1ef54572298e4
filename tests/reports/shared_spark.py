"""One Spark session for many tests: its start and its first queries are most of what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from reports.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SharedSpark:
    """Starts the session when it is first needed, also after `end`."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._spark: SparkSession | None = None

    @contextmanager
    def session(self, master: str = "local[*]") -> Iterator[SparkSession]:
        """In the place of `spark_session`: what leaves it leaves it running."""
        if self._spark is None:
            self._spark = self._stack.enter_context(spark_session(master))
        yield self._spark

    def end(self) -> None:
        """Stop the session, if there is one; its JVM has ended then."""
        self._spark = None
        self._stack.close()
