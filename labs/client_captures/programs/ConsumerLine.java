/** Consumes all that ProducerLine produced, and commits it. */

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;

public class ConsumerLine {
    private static final int RECORDS = 9;
    private static final String BYTES = "org.apache.kafka.common.serialization.ByteArray";

    /** Arguments: the bootstrap address, the topic. */
    public static void main(String[] words) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("client.id", "consumer-1");
        settings.put("group.id", "billing-" + words[1]);
        settings.put("auto.offset.reset", "earliest");
        settings.put("key.deserializer", BYTES + "Deserializer");
        settings.put("value.deserializer", BYTES + "Deserializer");
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<byte[], byte[]>(settings);
        consumer.subscribe(Arrays.asList(words[1]));
        for (int seen = 0; seen < RECORDS; ) {
            seen += poll(consumer).count();
        }
        consumer.commitSync();
        consumer.close();
    }

    /** The argument was a long before 4.0, and may be a Duration since 2.0. */
    @SuppressWarnings("unchecked")
    private static ConsumerRecords<byte[], byte[]> poll(KafkaConsumer<byte[], byte[]> consumer)
            throws Exception {
        for (Method method : KafkaConsumer.class.getMethods()) {
            if (!method.getName().equals("poll")) {
                continue;
            }
            boolean isLong = method.getParameterTypes()[0] == long.class;
            Object wait = isLong ? (Object) 500L : java.time.Duration.ofMillis(500);
            return (ConsumerRecords<byte[], byte[]>) method.invoke(consumer, wait);
        }
        throw new AssertionError("a consumer without poll");
    }
}
