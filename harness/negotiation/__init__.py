"""The versions that a client and a broker agree on, and the features that the client loses."""
