"""The subcommands of ``kafka-conformance``, one file each."""
