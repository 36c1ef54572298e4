"""Small types, names and measures for many rooms; they import nothing of ours."""
