"""The built-in cluster beside a real one: three brokers and a controller each, a process a node.

Everything is a ratio in one run: produced with acks=all to three replicas, the way from a leader's
end to the first acknowledged write, and what an idle cluster uses of a processor.
"""
