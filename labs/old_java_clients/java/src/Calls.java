package old;

import java.time.Instant;
import java.util.Collections;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Calls that the Java clients have had since 0.11 and until 3.9, one line of output each:
 * the name, a tab, "did" or the error. Arguments: bootstrap address, name of a new topic.
 */
public final class Calls {
    private static final int RECORDS = 5;
    private static final int LIMIT_S = 30;
    private static final String STRINGS = "org.apache.kafka.common.serialization.String";

    private interface Call {
        void make() throws Exception;
    }

    private final String bootstrap;
    private final String topic;

    private Calls(String bootstrap, String topic) {
        this.bootstrap = bootstrap;
        this.topic = topic;
    }

    public static void main(String[] words) {
        new Calls(words[0], words[1]).makeAll();
        System.exit(0); // threads of calls that hang
    }

    private void makeAll() {
        AdminClient admin = AdminClient.create(settings());
        ConfigResource named = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        NewTopic wanted = new NewTopic(topic, 1, (short) 1);
        report("create a topic", () -> admin.createTopics(Collections.singleton(wanted)).all().get());
        report("list topics", () -> admin.listTopics().names().get());
        report("describe a topic", () -> admin.describeTopics(Collections.singleton(topic)).all().get());
        report("describe configs", () -> admin.describeConfigs(Collections.singleton(named)).all().get());
        report("send", () -> send(settings()));
        report("send idempotent", () -> send(with("enable.idempotence", "true", "acks", "all")));
        report("send in a transaction", this::sendInTransaction);
        report("read", this::readAssigned);
        report("ask for an offset by time", this::askByTime);
        report("join a group, read and commit", this::readInGroup);
        report("delete a topic", () -> admin.deleteTopics(Collections.singleton(topic)).all().get());
    }

    private void report(String name, Call call) {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        String outcome = "did";
        try {
            thread.submit(() -> {
                call.make();
                return null;
            }).get(LIMIT_S, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            Throwable cause = failed;
            while (cause instanceof ExecutionException) {
                cause = cause.getCause();
            }
            outcome = cause.toString().replaceAll("\\s+", " ");
        } catch (TimeoutException late) {
            outcome = "no answer in " + LIMIT_S + " s";
        } catch (InterruptedException stopped) {
            outcome = stopped.toString();
        }
        System.out.println(name + "\t" + outcome);
    }

    private void send(Properties settings) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            for (int number = 0; number < RECORDS; number++) {
                producer.send(new ProducerRecord<>(topic, "k" + number, "v" + number)).get();
            }
        }
    }

    private void sendInTransaction() throws Exception {
        Properties settings = with("transactional.id", topic, "acks", "all");
        settings.put("enable.idempotence", "true");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, "k", "v")).get();
            producer.commitTransaction();
        }
    }

    private void readAssigned() {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(Collections.singleton(partition));
            consumer.seekToBeginning(Collections.singleton(partition));
            readAll(consumer);
        }
    }

    private void askByTime() {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings())) {
            consumer.offsetsForTimes(Collections.singletonMap(new TopicPartition(topic, 0), 0L));
        }
    }

    private void readInGroup() {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(with("group.id", topic))) {
            consumer.subscribe(Collections.singleton(topic));
            readAll(consumer);
            consumer.commitSync();
        }
    }

    private static void readAll(KafkaConsumer<String, String> consumer) {
        Instant end = Instant.now().plusSeconds(LIMIT_S - 5);
        int count = 0;
        while (count < RECORDS) {
            if (Instant.now().isAfter(end)) {
                throw new IllegalStateException(count + " of " + RECORDS + " records came");
            }
            count += consumer.poll(500).count();
        }
    }

    private Properties settings() {
        return with("auto.offset.reset", "earliest");
    }

    private Properties with(String... pairs) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        for (String side : new String[] {"key", "value"}) {
            settings.put(side + ".serializer", STRINGS + "Serializer");
            settings.put(side + ".deserializer", STRINGS + "Deserializer");
        }
        settings.put("auto.offset.reset", "earliest");
        for (int place = 0; place < pairs.length; place += 2) {
            settings.put(pairs[place], pairs[place + 1]);
        }
        return settings;
    }
}
