"""The codec beside the official classes of Kafka, in one JVM a release."""
