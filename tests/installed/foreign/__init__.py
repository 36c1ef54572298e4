"""Another project: it tests its own things and borrows a broker for that."""
