"""The built-in broker as the specification: seeded conversations with it and with a target.

The suites compare a target with what their authors thought of. Here the target and the
specification, in step, get the same drawn requests; the first difference in meaning is a failed
check of the requirement for that API.
"""
