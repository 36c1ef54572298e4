"""One replica of a partition, as leader and as follower."""
