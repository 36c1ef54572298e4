"""Brokers in containers: ``docker:IMAGE`` (:mod:`.target`) and images without a registry
(:mod:`.build`).

What a container is told and what an image may say of itself: :mod:`.image_contract`.
Not named "docker": that would hide the SDK of that name, which is imported in :mod:`.daemon` only.
"""
