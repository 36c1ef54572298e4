"""The package as others have it: from a wheel, and editable, in environments of their own."""
