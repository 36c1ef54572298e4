"""Subcommands of the command line, one file each."""

from harness.base.bundle import make_importable

make_importable()  # before a command imports `reports`
