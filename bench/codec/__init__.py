"""The codec side by side with those of other people: ``python -m bench.codec [--json]``.

Every case is the same work done by us and by peers, in turns, in one process: bytes that a real
cluster of three brokers could send are decoded to objects, and objects that were made beforehand
are encoded to bytes. Before anything is timed, both sides must have given the same bytes and must
read back what they wrote. Peers are called at their quickest public function and are warm.

A round times every side once, many calls long, and the sides take turns in going first; what is
shown is the median of the rounds, and the ratio of the medians: how many times quicker we are.

``records`` reads and builds record batches; peers are kafka-python and aiokafka (in C).

``load`` starts fresh interpreters which import, make, encode and decode one message.

Peers: kafka-python, kio, aiokafka (which has older versions only, and is compared at those).
Needs the extra ``bench``.
"""
