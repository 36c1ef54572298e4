"""One module a client: each call of the vocabulary, in that client's words."""
