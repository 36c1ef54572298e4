// Produces with acks all, 1 and 0, and consumes all of it. Arguments: the package's folder, the
// bootstrap address, the topic.
const [folder, bootstrap, topic] = process.argv.slice(2);
const { Kafka, logLevel } = require(folder);
const RECORDS = 3;

async function main() {
  const kafka = new Kafka({ clientId: "kafkajs-line", brokers: [bootstrap], logLevel: logLevel.ERROR });
  const producer = kafka.producer();
  await producer.connect();
  for (const acks of [-1, 1, 0]) {
    for (let number = 0; number < RECORDS; number++) {
      await producer.send({ topic, acks, messages: [{ key: "key", value: `value ${number}` }] });
    }
  }
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: `billing-${topic}` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  let seen = 0;
  await new Promise((all) => {
    consumer.run({
      eachMessage: async () => {
        seen += 1;
        if (seen === 3 * RECORDS) all();
      },
    });
  });
  await consumer.disconnect();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
