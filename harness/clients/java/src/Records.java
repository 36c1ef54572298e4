package clients;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Producers, and consumers that are in no group. */
final class Records {
  private static final long REQUEST_MS = 30_000;
  private static final Duration POLL = Duration.ofMillis(200);

  private final Properties shared;

  Records(Properties shared, Map<String, Client.Call> calls) {
    this.shared = shared;
    calls.put("produce", this::produce);
    calls.put("read", this::read);
    calls.put("offsets_for_times", this::offsetsForTimes);
    calls.put("read_from_time", this::readFromTime);
  }

  private Object produce(JsonNode asked) throws Exception {
    Properties settings = new Properties();
    settings.putAll(shared);
    settings.put("compression.type", asked.get("codec").asText());
    settings.put("linger.ms", "100");
    if (asked.has("idempotent")) {
      settings.put("enable.idempotence", asked.get("idempotent").asText());
    }
    StringSerializer texts = new StringSerializer();
    List<List<Object>> places = new ArrayList<>();
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, texts, texts)) {
      List<Future<RecordMetadata>> sends = new ArrayList<>();
      for (JsonNode one : asked.get("records")) {
        sends.add(producer.send(toSend(asked.get("topic").asText(), one)));
      }
      for (Future<RecordMetadata> send : sends) {
        places.add(List.of(send.get().partition(), send.get().offset()));
      }
    }
    return places;
  }

  private static ProducerRecord<String, String> toSend(String topic, JsonNode one) {
    List<Header> headers = new ArrayList<>();
    for (JsonNode pair : one.get("headers")) {
      String value = pair.get(1).textValue();
      byte[] data = value == null ? null : value.getBytes(StandardCharsets.UTF_8);
      headers.add(new RecordHeader(pair.get(0).asText(), data));
    }
    return new ProducerRecord<>(
        topic, one.get("partition").asInt(), one.get("timestamp_ms").asLong(),
        one.get("key").textValue(), one.get("value").textValue(), headers);
  }

  static Map<String, Object> asRead(ConsumerRecord<String, String> one) {
    List<List<String>> headers = new ArrayList<>();
    for (Header each : one.headers()) {
      byte[] value = each.value();
      String text = value == null ? null : new String(value, StandardCharsets.UTF_8);
      headers.add(Arrays.asList(each.key(), text));
    }
    Map<String, Object> found = new HashMap<>();
    found.put("partition", one.partition());
    found.put("offset", one.offset());
    found.put("timestamp_ms", one.timestamp());
    found.put("key", one.key());
    found.put("value", one.value());
    found.put("headers", headers);
    return found;
  }

  private KafkaConsumer<String, String> reader(JsonNode asked) {
    Properties settings = new Properties();
    settings.putAll(shared);
    if (asked.path("committed").asBoolean()) {
      settings.put("isolation.level", "read_committed");
    }
    StringDeserializer texts = new StringDeserializer();
    return new KafkaConsumer<>(settings, texts, texts);
  }

  private static TopicPartition place(JsonNode asked) {
    return new TopicPartition(asked.get("topic").asText(), asked.get("partition").asInt());
  }

  private Object read(JsonNode asked) {
    try (KafkaConsumer<String, String> reader = reader(asked)) {
      reader.assign(List.of(place(asked)));
      reader.seek(place(asked), asked.get("offset").asLong());
      return take(reader, asked.get("count").asInt());
    }
  }

  private Object offsetsForTimes(JsonNode asked) {
    Map<TopicPartition, Long> times = new HashMap<>();
    for (JsonNode pair : asked.get("times")) {
      TopicPartition at = new TopicPartition(asked.get("topic").asText(), pair.get(0).asInt());
      times.put(at, pair.get(1).asLong());
    }
    List<List<Object>> found = new ArrayList<>();
    try (KafkaConsumer<String, String> reader = reader(asked)) {
      reader.offsetsForTimes(times).forEach((at, told) ->
          found.add(Arrays.asList(at.partition(), told == null ? null : told.offset())));
    }
    return found;
  }

  private Object readFromTime(JsonNode asked) {
    TopicPartition at = place(asked);
    try (KafkaConsumer<String, String> reader = reader(asked)) {
      reader.assign(List.of(at));
      Map<TopicPartition, Long> times = Map.of(at, asked.get("timestamp_ms").asLong());
      OffsetAndTimestamp told = reader.offsetsForTimes(times).get(at);
      reader.seek(at, told.offset());
      return take(reader, asked.get("count").asInt());
    }
  }

  private static Object take(KafkaConsumer<String, String> reader, int count) {
    List<Object> found = new ArrayList<>();
    long untilMs = System.currentTimeMillis() + REQUEST_MS;
    while (found.size() < count && System.currentTimeMillis() < untilMs) {
      reader.poll(POLL).forEach(one -> found.add(asRead(one)));
    }
    if (found.size() < count) {
      throw new IllegalStateException(found.size() + " of " + count + " records came");
    }
    return found.subList(0, count);
  }
}
