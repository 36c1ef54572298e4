package clients;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** One transactional producer, and one consumer that reads what is committed. */
final class Transactions {
  private static final Duration POLL = Duration.ofMillis(100);

  private record Sent(int partition, String value, Future<RecordMetadata> place) {}

  private final Properties shared = new Properties();
  private final List<Sent> sends = new ArrayList<>();
  private KafkaProducer<String, String> producer;
  private KafkaConsumer<String, String> reader;

  Transactions(Properties common, Map<String, Client.Call> calls) {
    shared.putAll(common);
    shared.put("request.timeout.ms", "2500");
    shared.put("reconnect.backoff.ms", "50");
    shared.put("reconnect.backoff.max.ms", "500");
    shared.put("socket.connection.setup.timeout.ms", "1000");
    calls.put("transact", this::transact);
    calls.put("transaction_open", this::open);
    calls.put("transaction_begin", this::begin);
    calls.put("transaction_send", this::send);
    calls.put("transaction_flush", this::flush);
    calls.put("transaction_offsets", this::offsets);
    calls.put("transaction_end", this::end);
    calls.put("transaction_close", this::close);
    calls.put("committed_open", this::openReader);
    calls.put("committed_poll", this::poll);
    calls.put("committed_position", this::position);
    calls.put("committed_close", this::closeReader);
  }

  private Object open(JsonNode asked) {
    Properties settings = new Properties();
    settings.putAll(shared);
    settings.put("transactional.id", asked.get("transactional_id").asText());
    settings.put("transaction.timeout.ms", "30000");
    settings.put("delivery.timeout.ms", "20000");
    settings.put("max.block.ms", "20000");
    settings.put("linger.ms", "1");
    StringSerializer texts = new StringSerializer();
    KafkaProducer<String, String> made = new KafkaProducer<>(settings, texts, texts);
    try {
      made.initTransactions();
    } catch (RuntimeException problem) {
      made.close(Duration.ZERO);
      throw problem;
    }
    producer = made;
    return null;
  }

  /** A whole transaction of a producer of its own; the partition and the offset of each record. */
  private Object transact(JsonNode asked) throws Exception {
    open(asked);
    try {
      begin(asked);
      send(asked);
      producer.flush();
      List<List<Object>> places = new ArrayList<>();
      for (Sent one : sends) {
        places.add(List.of(one.partition(), one.place().get().offset()));
      }
      end(asked);
      return places;
    } finally {
      producer.close();
    }
  }

  private Object begin(JsonNode asked) {
    sends.clear();
    producer.beginTransaction();
    return null;
  }

  private Object send(JsonNode asked) {
    int partition = asked.get("partition").asInt();
    for (JsonNode value : asked.get("values")) {
      String text = value.asText();
      ProducerRecord<String, String> one =
          new ProducerRecord<>(asked.get("topic").asText(), partition, null, text);
      sends.add(new Sent(partition, text, producer.send(one)));
    }
    return null;
  }

  /** Each record with its offset, or with -1 and its error. */
  private Object flush(JsonNode asked) throws InterruptedException {
    producer.flush();
    List<List<Object>> found = new ArrayList<>();
    for (Sent one : sends) {
      try {
        RecordMetadata place = one.place().get();
        found.add(List.of(one.partition(), one.value(), place.offset(), ""));
      } catch (ExecutionException problem) {
        found.add(List.of(one.partition(), one.value(), -1, problem.getCause().toString()));
      }
    }
    return found;
  }

  @SuppressWarnings("removal") // a group without members has its name alone
  private Object offsets(JsonNode asked) {
    Map<TopicPartition, OffsetAndMetadata> places = new HashMap<>();
    for (JsonNode pair : asked.get("offsets")) {
      TopicPartition at = new TopicPartition(asked.get("topic").asText(), pair.get(0).asInt());
      places.put(at, new OffsetAndMetadata(pair.get(1).asLong()));
    }
    producer.sendOffsetsToTransaction(
        places, new ConsumerGroupMetadata(asked.get("group").asText()));
    return null;
  }

  private Object end(JsonNode asked) {
    if (asked.get("commits").asBoolean()) {
      producer.commitTransaction();
    } else {
      producer.abortTransaction();
    }
    return null;
  }

  private Object close(JsonNode asked) {
    producer.close(Duration.ZERO);
    return null;
  }

  private Object openReader(JsonNode asked) {
    Properties settings = new Properties();
    settings.putAll(shared);
    settings.put("isolation.level", "read_committed");
    settings.put("auto.offset.reset", "none");
    settings.put("fetch.max.wait.ms", "100");
    StringDeserializer texts = new StringDeserializer();
    reader = new KafkaConsumer<>(settings, texts, texts);
    List<TopicPartition> places = new ArrayList<>();
    for (int each = 0; each < asked.get("partitions").asInt(); each++) {
      places.add(new TopicPartition(asked.get("topic").asText(), each));
    }
    reader.assign(places);
    places.forEach(at -> reader.seek(at, 0));
    return null;
  }

  private Object poll(JsonNode asked) {
    List<List<Object>> found = new ArrayList<>();
    reader.poll(POLL).forEach(one ->
        found.add(List.of(one.partition(), one.offset(), one.value())));
    return found;
  }

  private Object position(JsonNode asked) {
    return reader.position(
        new TopicPartition(asked.get("topic").asText(), asked.get("partition").asInt()));
  }

  private Object closeReader(JsonNode asked) {
    reader.close();
    return null;
  }
}
