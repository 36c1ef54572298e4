const { LIMITS, Lacks } = require("./calls.cjs");
const { Records, recordOf } = require("./kafkajs_records.cjs");

// A member of a group. A record waits in `unread` until a poll takes it; then the next one comes.
class Member {
  constructor(kafka, { group, topic, commits }) {
    Object.assign(this, { topic, commits, unread: [], next: new Map(), assigned: [] });
    this.consumer = kafka.consumer({
      groupId: group, sessionTimeout: LIMITS.sessionMs, heartbeatInterval: LIMITS.heartbeatMs,
      maxWaitTimeInMs: LIMITS.pollMs, retry: { initialRetryTime: 100, retries: 20 },
    });
    this.consumer.on(this.consumer.events.GROUP_JOIN, ({ payload }) => {
      this.assigned = payload.memberAssignment[topic] || [];
      this.next.clear();
    });
    this.consumer.on(this.consumer.events.REBALANCING, () => { this.assigned = []; });
  }

  async start() {
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [this.topic], fromBeginning: true });
    const eachMessage = (read) => this.take(read);
    // It resolves when the group is joined, for which members wait that a poll has to free.
    const running = this.consumer.run({ autoCommit: false, partitionsConsumedConcurrently: 8, eachMessage });
    running.catch((problem) => console.error(problem));
  }

  // The client says only afterwards that it has given partitions up: each record is committed.
  async take(read) {
    if (this.ended) return;
    await new Promise((polled) => { this.unread.push({ read, polled }); });
    this.next.set(read.partition, Number(read.message.offset) + 1);
    if (this.commits && !this.ended) await this.commit();
  }

  async poll() {
    const found = [];
    const until = Date.now() + LIMITS.pollMs;
    while (found.length < LIMITS.pollRecords && Date.now() < until) {
      const one = this.unread.shift();
      if (one === undefined) {
        await new Promise((later) => { setTimeout(later, 10); });
        continue;
      }
      found.push(recordOf(one.read));
      one.polled();
    }
    return found;
  }

  async commit() {
    const offsets = [...this.next].map(([partition, offset]) => ({
      topic: this.topic, partition, offset: String(offset),
    }));
    if (offsets.length > 0) await this.consumer.commitOffsets(offsets);
  }

  // What was not polled is given back: its record counts as not read.
  async end() {
    this.ended = true;
    for (const one of this.unread.splice(0)) one.polled();
    await this.consumer.disconnect();
  }
}

class Groups extends Records {
  constructor(brokers) {
    super(brokers);
    this.members = new Map();
  }

  get calls() {
    return [...super.calls, "join", "poll", "assignment", "commit", "leave"];
  }

  async close() {
    for (const one of this.members.values()) await one.end();
  }

  async join({ member, strategy, ...given }) {
    if (strategy !== "eager") throw new Lacks(`no members of the protocol ${strategy}`);
    const made = new Member(this.named(member), given);
    this.members.set(member, made);
    await made.start();
  }

  async poll({ members }) {
    const found = [];
    for (const name of members) {
      const records = await this.members.get(name).poll();
      found.push(...records.map((one) => [name, one]));
    }
    return found;
  }

  async assignment({ member }) {
    return this.members.get(member).assigned;
  }

  async commit({ member }) {
    await this.members.get(member).commit();
  }

  async leave({ member }) {
    const one = this.members.get(member);
    this.members.delete(member);
    await one.end();
  }
}

module.exports = { Groups };
