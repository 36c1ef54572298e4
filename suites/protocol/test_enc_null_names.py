"""ENC: null in place of a name, inside the lists that a request carries."""

from __future__ import annotations
