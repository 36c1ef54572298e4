"""``python -m tests.clients``: which releases are here, and what each client does."""

from __future__ import annotations

from tests.clients.table import offers_table, releases_table

if __name__ == "__main__":
    print(releases_table())
    print(offers_table(), end="")
