"""Delegation tokens: their creation, life, description, and the way in by them."""
