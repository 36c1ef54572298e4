"""The built-in broker's files: written, read, recovered, searched and opened.

Everything is a ratio in one run: to the same broker in memory, to what the page cache holds, to
reading and checksumming the same bytes, to a short log, to an interpreter that imports asyncio,
to an Apache Kafka 4.4.0 on the same disk.
"""
