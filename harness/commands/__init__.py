"""Subcommands of the command line, one file each."""

from harness.bundle import make_importable

make_importable()  # before a command imports `reports`
