"""How a cluster to be judged is obtained, asked whether it answers, and ended for sure.

Start at :mod:`harness.targets.spec` (a string becomes a target) and
:mod:`harness.targets.target` (what every target can do).

Nothing is imported here: the warden lives in this package and has to start quickly.
"""
