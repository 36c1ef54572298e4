"""The transaction coordinator: transactional ids, their transactions, markers, and records."""
