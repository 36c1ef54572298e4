"""Named defects: each is a wrong behaviour that the tests of exactly one requirement must notice.

``kafka-conformance lab defects --target SPEC`` runs the table.
"""
