"""The limit of a wait for an immediate event, so that a test ends where something hangs.

It is no measurement: nothing that works takes so long, on however busy a machine. It is less than
the limit of a whole test, so that the test itself reports the condition that it awaited.
"""

HANGS_AFTER_S = 200
