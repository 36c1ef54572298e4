"""The clusters to be judged: how they are obtained, checked for readiness and ended.

Start at :mod:`harness.targets.spec` (a string becomes a target) and :mod:`harness.targets.target`
(the methods of every target).

Nothing is imported here: the warden is in this package and has to start quickly.
"""
