"""`python -m harness.reference_broker` is the command `broker`."""

from harness.reference_broker.command import broker

if __name__ == "__main__":
    broker(prog_name="python -m harness.reference_broker")
