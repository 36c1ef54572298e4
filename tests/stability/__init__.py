"""What stays for users from release to release: docs/stability.md."""
