"""Brokers in containers: ``docker:IMAGE`` (:mod:`.target`) and images without a registry
(:mod:`.build`).

The environment of a container and the labels of an image: :mod:`.image_contract`. Not named
"docker": that would hide the SDK of that name, which is imported in :mod:`.daemon` only.
"""
