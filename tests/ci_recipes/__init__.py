"""Tests of the action and of the recipes for other CIs."""
