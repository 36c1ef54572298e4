"""The control API over HTTP: toxiproxy's own, and what only this proxy has beside it."""
