"""The versions that clients of other projects can speak, read from their own source text.

``python -m labs.client_versions NAME [--write]`` makes the ``[versions]`` of the client files in
``harness/negotiation/clients`` (docs/client-files.md).
"""
