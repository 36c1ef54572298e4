"""Named defects: each is a wrongness that exactly one requirement's test is there to find.

``python -m tests.defects --target SPEC`` runs the table.
"""
