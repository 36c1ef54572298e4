"""Tests of the rules for frames."""
