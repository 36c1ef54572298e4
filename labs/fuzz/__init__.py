"""Coverage-guided fuzzing of everything that reads bytes: ``kafka-conformance lab fuzz``."""
