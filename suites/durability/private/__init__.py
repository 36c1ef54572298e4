"""Tests that do harm to nodes, or need brokers with settings of their own."""
