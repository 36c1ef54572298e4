"""The check of ``meta.properties``: its keys, and the files of all log directories together.

Source: classes MetaPropertiesEnsemble, BrokerMetadataCheckpoint; KIP-631, KIP-858.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from uuid import UUID

from harness.codec.data_framing.log_folder import PARTITION_METADATA
from harness.log_tools.at_start import found
from harness.log_tools.broker_folders import (
    CLUSTER_ID,
    DIRECTORY_ID,
    HIGHEST_RESERVED,
    BrokerFolders,
    Identity,
    is_metadata_log,
    read_id,
)
from harness.log_tools.findings import Finding

_INT32_HIGHEST = 2**31 - 1


def check_identities(broker: BrokerFolders) -> Iterator[Finding]:
    """Yield the problems of the files alone, then those between them."""
    read = [each for each in broker.identities if each.values]
    for each in broker.identities:
        if each.values is None and (read or _had_identity(each)):
            yield found(each.path, "meta-missing", "it is not there")
    for each in read:
        yield from _keys(each, broker)
        yield from _numbers(each)
    for before, each in pairwise(read):
        yield from _differences(before, each)
    yield from _shared_directory_ids(read)


def _had_identity(identity: Identity) -> bool:
    """True if files prove a release that writes one: those before 0.9 wrote none."""
    folders = identity.directory.partitions
    return any(
        is_metadata_log(folder) or any(note.name == PARTITION_METADATA for note in folder.notes)
        for folder in folders
    )


def _keys(identity: Identity, broker: BrokerFolders) -> Iterator[Finding]:
    """Yield missing keys. A version 0 of ZooKeeper may have no cluster id; the first release that
    wrote one is 2.4."""
    values = identity.values or {}
    if identity.id_key not in values:
        yield found(identity.path, "meta-key", f"{identity.id_key} is missing")
    others = any(CLUSTER_ID in (each.values or {}) for each in broker.identities)
    if CLUSTER_ID not in values and (broker.is_kraft or others):
        yield found(identity.path, "meta-key", f"{CLUSTER_ID} is missing")


def _numbers(identity: Identity) -> Iterator[Finding]:
    values = identity.values or {}
    word = values.get(identity.id_key)
    if word is not None and (identity.node_id is None or identity.node_id > _INT32_HIGHEST):
        yield found(identity.path, "meta-value", f"{identity.id_key} {word!r} is no id of a node")
    word = values.get(DIRECTORY_ID)
    if word is None:
        return
    directory_id = read_id(word)
    if directory_id is None:
        yield found(identity.path, "meta-value", f"{DIRECTORY_ID} {word!r} is no id")
    elif directory_id.int <= HIGHEST_RESERVED:
        yield found(identity.path, "meta-reserved", f"{DIRECTORY_ID} {word} is reserved")


def _differences(before: Identity, identity: Identity) -> Iterator[Finding]:
    """Yield what differs from the directory before that must not differ."""
    values, earlier = identity.values or {}, before.values or {}
    pairs = {
        "meta-cluster": (CLUSTER_ID, earlier.get(CLUSTER_ID), values.get(CLUSTER_ID)),
        "meta-node": (identity.id_key, before.node_id, identity.node_id),
        "meta-version": ("version", earlier.get("version"), values.get("version")),
    }
    for kind, (key, theirs, own) in pairs.items():
        if None not in (theirs, own) and theirs != own:
            problem = f"{key} is {own}, in {before.directory.path} it is {theirs}"
            yield found(identity.path, kind, problem)


def _shared_directory_ids(identities: list[Identity]) -> Iterator[Finding]:
    seen: dict[UUID, Identity] = {}
    for each in identities:
        directory_id = each.directory_id
        if directory_id is None:
            continue
        first = seen.setdefault(directory_id, each)
        if first is not each:
            problem = f"{DIRECTORY_ID} is that of {first.directory.path} too"
            yield found(each.path, "meta-directory", problem)
