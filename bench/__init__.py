"""Our codec and our runs against those of peers, as ratios: ``python -m bench [NAME ...]``.

Each case does the same work twice, by us and by a peer, in turns in the same process, and prints
our time divided by the peer's: below 1.0 we are quicker. Absolute times say more about the
machine than about the code, so only ``suites`` prints some. Nothing here is a test: the reader
judges the ratios.

The cases (names may be given to run only some):

- ``fetch``, ``produce``: encoding and decoding requests and responses (10 topics of 10 partitions
  with 1 KiB of records each) at the highest version with plain lengths and at the first flexible
  one, against the generated codec of kafka-python. Both must write the same bytes.
- ``records``: ``walk_records``, which a broker validates with, against ``decode_batches``, which
  makes objects of the same records; for several shapes of records.
- ``suites``: the whole run on the built-in broker against the same run on Apache Kafka 4.4.0.
  Here seconds are printed too, with goals for two idle cores, as they are what a user waits for.

``python -m bench codec`` measures the codec alone, with times and targets: see ``bench.codec``.

Needs the extra ``bench``.
"""
