const { AssignerProtocol, ConfigResourceTypes, Kafka, logLevel } = require("kafkajs");

const log = () => ({ label, log: { message, ...more } }) => console.error(label, message, more.error || "");

// The calls about topics; each has an admin client of its own.
class Topics {
  constructor(brokers) {
    this.brokers = brokers;
    this.kafka = this.named("kafkajs");
  }

  get calls() {
    return [
      "create_topic", "list_topics", "describe_topic", "describe_configs", "alter_configs",
      "create_partitions", "delete_records", "delete_topic", "list_groups", "describe_group",
      "group_offsets", "delete_group",
    ];
  }

  named(clientId) {
    const retry = { initialRetryTime: 100, retries: 8 };
    return new Kafka({ clientId, brokers: this.brokers, retry, logLevel: logLevel.WARN, logCreator: log });
  }

  async administer(work) {
    const admin = this.kafka.admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  }

  async create_topic({ topic, partitions, configs }) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
    const made = { topic, numPartitions: partitions, replicationFactor: 1, configEntries };
    await this.administer((admin) => admin.createTopics({ topics: [made], waitForLeaders: false }));
  }

  list_topics() {
    return this.administer((admin) => admin.listTopics());
  }

  async describe_topic({ topic }) {
    const found = await this.administer((admin) => admin.fetchTopicMetadata({ topics: [topic] }));
    return found.topics[0].partitions.map((one) => ({
      partition: one.partitionId, leader: one.leader, replicas: one.replicas, isr: one.isr,
    }));
  }

  async describe_configs({ topic }) {
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic }];
    const asked = { includeSynonyms: false, resources };
    const found = await this.administer((admin) => admin.describeConfigs(asked));
    const entries = found.resources[0].configEntries;
    return Object.fromEntries(entries.map((one) => [one.configName, one.configValue]));
  }

  async alter_configs({ topic, configs }) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }];
    await this.administer((admin) => admin.alterConfigs({ resources }));
  }

  async create_partitions({ topic, total }) {
    const topicPartitions = [{ topic, count: total }];
    await this.administer((admin) => admin.createPartitions({ topicPartitions }));
  }

  // The low watermarks are asked for apart: the call of this client does not return them.
  delete_records({ topic, before }) {
    const partitions = before.map(([partition, offset]) => ({ partition, offset: String(offset) }));
    const named = before.map(([partition]) => partition);
    return this.administer(async (admin) => {
      await admin.fetchTopicOffsets(topic); // the next call fails while the topic is not known
      await admin.deleteTopicRecords({ topic, partitions });
      const found = await admin.fetchTopicOffsets(topic);
      const low = found.map((one) => [one.partition, Number(one.low)]);
      return low.filter(([partition]) => named.includes(partition));
    });
  }

  async delete_topic({ topic }) {
    await this.administer((admin) => admin.deleteTopics({ topics: [topic] }));
  }

  async list_groups() {
    const found = await this.administer((admin) => admin.listGroups());
    return found.groups.map((one) => one.groupId);
  }

  async describe_group({ group }) {
    const found = await this.administer((admin) => admin.describeGroups([group]));
    const { state, members } = found.groups[0];
    return { state, members: members.map((one) => [one.clientId, partitionsOf(one)]) };
  }

  async group_offsets({ group }) {
    const found = await this.administer((admin) => admin.fetchOffsets({ groupId: group }));
    const all = found.flatMap(({ topic, partitions }) =>
      partitions.map((one) => [topic, one.partition, Number(one.offset)]));
    return all.filter(([, , offset]) => offset >= 0);
  }

  async delete_group({ group }) {
    await this.administer((admin) => admin.deleteGroups([group]));
  }
}

function partitionsOf(member) {
  const assigned = AssignerProtocol.MemberAssignment.decode(member.memberAssignment);
  return assigned ? Object.values(assigned.assignment).flat() : [];
}

module.exports = { Topics };
