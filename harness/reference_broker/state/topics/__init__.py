"""The topics of the cluster: creation, growth, placement of replicas, names."""
