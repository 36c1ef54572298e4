"""Named defects: each is a wrong behaviour that the tests of exactly one requirement must notice.

``python -m tests.defects --target SPEC`` runs the table.
"""
