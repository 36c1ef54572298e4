"""The authorizers of Kafka's brokers, and the settings that choose one."""

SETTING = "authorizer.class.name"
SUPER_USERS = "super.users"
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
"""Of brokers with KRaft."""
OF_ZOOKEEPER = "kafka.security.authorizer.AclAuthorizer"
"""Of brokers with a ZooKeeper, from Kafka 2.4 on."""
