"""Every check of this repository, as two tables of parts: the gate, and what runs at depth.

``python -m checks`` runs the gate, ``python -m checks --deep`` the rest; CONTRIBUTING.md says
what each part checks and how long it takes.
"""
