"""One transactional id as a state machine: the built-in coordinator beside an independent model.

Both are plain state: two producers of the id, time that jumps, markers that come late, and a
coordinator that reads its log again. To run: ``kafka-conformance lab transaction-model``.
"""
