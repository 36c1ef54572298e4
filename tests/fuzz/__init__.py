"""Coverage-guided fuzzing of everything that reads bytes: ``python -m tests.fuzz``."""
