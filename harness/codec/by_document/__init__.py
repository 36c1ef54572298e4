"""Formats that no release we can run speaks: by document only.

Kafka 0.7 (its message, log entry, five requests without header, and their answers) is written from
the documents of its time: the sections "Message Format", "On-disk format of a message" and "Reads"
of the implementation notes, and the layouts that its clients kept. The enriched message is a
proposal from before 0.10 that was never released. Nothing here was checked against a broker or an
official class; the tests hold bytes that were put together by hand from the documents.
"""

from harness.codec.by_document.errors import ByDocumentError

__all__ = ["ByDocumentError"]
