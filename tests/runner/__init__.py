"""The plugin and the command line, judged with small suites against the built-in broker."""
