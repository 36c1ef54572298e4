"""A static site of results: a page for each target, requirement and API, at permanent addresses."""
