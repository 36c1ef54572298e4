"""Apache Kafka from its released jars: any pinned release, as processes of this machine.

Start at :mod:`harness.targets.kafka.target`; what differs between releases is in
:mod:`harness.targets.kafka.eras`.
"""
