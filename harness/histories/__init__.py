"""What clients did, written down while they did it, and judged afterwards.

Nothing is judged while it happens: a workload writes a history of operations (``history``), a pure
function reads it when all is over (``checker``). The words are Jepsen's.
"""
