"""Transactional clients under faults, and the history by which a checker judges the broker.

Documents: docs/transaction-histories.md, docs/findings/late-end.md.
"""
