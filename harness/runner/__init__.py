"""The suites in pytest: marks, cases, brokers for tests, the run and its files."""
