"""``python -m labs.mutation.mutated_broker MUTANT OPTION...``: the built-in broker as this mutant;
the options are those of its command. A second word ``nodes``: a node of a cluster."""

from __future__ import annotations

import sys

from harness.reference_broker.command import broker
from labs.mutation.code_swap import put_in_place
from labs.mutation.response_fields import FIELD, put_field_in_place


def main() -> None:
    """Run the broker. Raises NoSuchMutant."""
    name, *options = sys.argv[1:]
    put = put_field_in_place if name.startswith(f"{FIELD}@") else put_in_place
    put(name)
    broker(options, prog_name="mutant")


if __name__ == "__main__":
    main()
