"""Programs of a source tree that prove the suites and the reference broker."""
