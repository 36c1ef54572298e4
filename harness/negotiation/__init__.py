"""Which versions a client and a broker agree on, and what the client does without."""
