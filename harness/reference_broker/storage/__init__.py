"""What a node keeps in files, so that it outlives its process."""
