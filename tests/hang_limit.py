"""How long a test waits for what comes at once, so that it ends where something hangs.

It is no measurement: nothing that works takes so long, on however busy a machine. It is less than
what a whole test may take, so that the test says itself what it waited for.
"""

HANGS_AFTER_S = 200
