"""Requirements that clients of other projects judge: `kafka-conformance clients`."""
