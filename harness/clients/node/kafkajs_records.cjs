const { randomUUID } = require("node:crypto");
const { CompressionTypes } = require("kafkajs");
const { LIMITS, Lacks, bytesOf, textOf, within } = require("./calls.cjs");
const { Topics } = require("./kafkajs_topics.cjs");

const CODECS = {
  none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy,
};

class Records extends Topics {
  get calls() {
    const own = ["produce", "transact", "read", "offsets_for_times", "read_from_time"];
    return [...super.calls, ...own];
  }

  async produce({ topic, codec, records, idempotent }) {
    if (!(codec in CODECS)) throw new Lacks(`no codec ${codec} without a package of its own`);
    const messages = records.map((one) => ({
      partition: one.partition, timestamp: String(one.timestamp_ms), key: bytesOf(one.key),
      value: bytesOf(one.value), headers: headersOf(one.headers),
    }));
    const send = { topic, acks: -1, compression: CODECS[codec], messages };
    return this.sending({ idempotent: Boolean(idempotent) }, async (producer) =>
      placesOf(messages, await producer.send(send)));
  }

  transact({ topic, transactional_id: transactionalId, partition, values, commits }) {
    const messages = values.map((value) => ({ partition, value: bytesOf(value) }));
    const settings = { transactionalId, idempotent: true, maxInFlightRequests: 1 };
    return this.sending(settings, async (producer) => {
      const transaction = await producer.transaction();
      const found = await transaction.send({ topic, messages });
      await (commits ? transaction.commit() : transaction.abort());
      return placesOf(messages, found);
    });
  }

  async sending(settings, work) {
    const producer = this.kafka.producer({ allowAutoTopicCreation: false, ...settings });
    await producer.connect();
    try {
      return await work(producer);
    } finally {
      await producer.disconnect();
    }
  }

  // A consumer of this client is always in a group: one that no other consumer has.
  async read({ topic, partition, offset, count, committed }) {
    const groupId = `kc-read-${randomUUID()}`;
    const settings = { groupId, readUncommitted: !committed, maxWaitTimeInMs: LIMITS.pollMs };
    const consumer = this.kafka.consumer(settings);
    await consumer.connect();
    const found = [];
    try {
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      const done = new Promise((resolve, reject) => {
        consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
        const eachMessage = async (read) => {
          const at = Number(read.message.offset);
          if (read.partition !== partition || at < offset || found.length >= count) return;
          found.push(recordOf(read));
          if (found.length === count) resolve(found);
        };
        consumer.run({ autoCommit: false, eachMessage }).catch(reject);
        consumer.seek({ topic, partition, offset: String(offset) });
      });
      return await within(done, LIMITS.requestMs - 5000, `${count} records`);
    } finally {
      await consumer.disconnect();
      await this.delete_group({ group: groupId }).catch((problem) => console.error(problem));
    }
  }

  // The client returns the end where there is no such record.
  offsets_for_times({ topic, times }) {
    return this.administer(async (admin) => {
      const ends = new Map((await admin.fetchTopicOffsets(topic)).map((one) => [one.partition, one.high]));
      const found = [];
      for (const [partition, timestamp] of times) {
        const all = await admin.fetchTopicOffsetsByTimestamp(topic, timestamp);
        const { offset } = all.find((one) => one.partition === partition);
        found.push([partition, offset === ends.get(partition) ? null : Number(offset)]);
      }
      return found;
    });
  }

  async read_from_time({ topic, partition, timestamp_ms, count }) {
    const [[, offset]] = await this.offsets_for_times({ topic, times: [[partition, timestamp_ms]] });
    return this.read({ topic, partition, offset, count });
  }
}

// Headers are an object: values of the same name are one list.
function headersOf(pairs) {
  const found = {};
  for (const [name, value] of pairs) (found[name] ??= []).push(bytesOf(value));
  return Object.fromEntries(Object.entries(found).map(([name, all]) => [name, all.length > 1 ? all : all[0]]));
}

function placesOf(messages, answers) {
  const next = new Map(answers.map((one) => [one.partition, Number(one.baseOffset)]));
  return messages.map(({ partition }) => {
    const at = next.get(partition);
    next.set(partition, at + 1);
    return [partition, at];
  });
}

function recordOf({ partition, message }) {
  const headers = Object.entries(message.headers || {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, textOf(one)]));
  return {
    partition, offset: Number(message.offset), timestamp_ms: Number(message.timestamp),
    key: textOf(message.key), value: textOf(message.value), headers,
  };
}

module.exports = { Records, recordOf };
