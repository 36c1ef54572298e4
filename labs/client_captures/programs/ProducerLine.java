/** Produces with acks all, 1 and 0. */

import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

public class ProducerLine {
    private static final int RECORDS = 3;
    private static final String BYTES = "org.apache.kafka.common.serialization.ByteArray";

    /** Arguments: the bootstrap address, the topic. */
    public static void main(String[] words) throws Exception {
        for (String acks : new String[] {"all", "1", "0"}) {
            produce(words[0], words[1], acks);
        }
    }

    private static void produce(String bootstrap, String topic, String acks) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("client.id", "producer-" + acks);
        settings.put("acks", acks);
        settings.put("key.serializer", BYTES + "Serializer");
        settings.put("value.serializer", BYTES + "Serializer");
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<byte[], byte[]>(settings);
        for (int number = 0; number < RECORDS; number++) {
            byte[] value = ("value " + number).getBytes();
            producer.send(new ProducerRecord<byte[], byte[]>(topic, 0, "key".getBytes(), value)).get();
        }
        producer.close();
    }
}
