"""The names that a release promises: docs/stability.md."""
