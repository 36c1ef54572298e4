"""Default partitioners: which partition a keyed message goes to.

"Producer APIs" says ``hash(key) % numPartitions``, and any partition for a null key. Up to 0.8.1
the hash is Java's ``hashCode`` of the key, the new producer of 0.8.2 takes murmur2 of its bytes
(classes DefaultPartitioner, and Utils of kafka-clients). Both promise the same: one key, one
partition, as long as the number of partitions stays.
"""

from __future__ import annotations

_INT32 = 1 << 32
_MASK = _INT32 - 1
_POSITIVE = _INT32 // 2 - 1
_M = 0x5BD1E995
_SEED = 0x9747B28C


def java_string_hash(text: str) -> int:
    """``String.hashCode``: a polynomial in 31 over UTF-16 units, as a signed 32-bit number."""
    units = text.encode("utf-16-be", "surrogatepass")
    found = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        found = (31 * found + (high << 8 | low)) & _MASK
    return _signed(found)


def partition_by_hash_code(key: str | None, partitions: int, *, any_partition: int = 0) -> int:
    """The partition by the partitioner of 0.7, for a key that is a string.

    ``any_partition``: the random one that a null key gets, drawn by the caller.
    The lowest number has no absolute value in 32 bits, so that 0.7 found a negative partition for
    it and failed; here it counts as 0, as since 0.8 (Utils.abs).

    Raises:
        ValueError: no partition, or ``any_partition`` is none of them.
    """
    _require(partitions, any_partition)
    if key is None:
        return any_partition
    hashed = java_string_hash(key)
    return (0 if hashed == -_INT32 // 2 else abs(hashed)) % partitions


def murmur2(data: bytes) -> int:
    """MurmurHash2 of 32 bits with Kafka's seed, as a signed number (Utils.murmur2)."""
    found = _SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        found = found * _M & _MASK ^ _mixed(int.from_bytes(data[at : at + 4], "little"))
    if whole < len(data):
        found = (found ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    found = (found ^ found >> 13) * _M & _MASK
    return _signed(found ^ found >> 15)


def partition_by_murmur2(key: bytes | None, partitions: int, *, any_partition: int = 0) -> int:
    """The partition by the default partitioner since 0.8.2, which drops the sign's bit.

    Raises like :func:`partition_by_hash_code`.
    """
    _require(partitions, any_partition)
    if key is None:
        return any_partition
    return (murmur2(key) & _POSITIVE) % partitions


def _mixed(word: int) -> int:
    word = word * _M & _MASK
    return (word ^ word >> 24) * _M & _MASK


def _signed(number: int) -> int:
    return number - _INT32 if number > _POSITIVE else number


def _require(partitions: int, any_partition: int) -> None:
    if not 0 <= any_partition < partitions:
        raise ValueError(f"partition {any_partition} of {partitions}")
