"""Every check of this repository, as two tables of parts: the gate, and what runs at depth.

``python -m tests.ci`` runs the gate, ``python -m tests.ci --deep`` the rest; CONTRIBUTING.md says
what each part checks and how long it takes.
"""
