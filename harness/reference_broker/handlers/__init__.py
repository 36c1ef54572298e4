"""One file per API key: validate the request, ask the state, answer. No sockets, no clock."""
