package clients;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Members of groups, and what the admin client tells of them. */
final class Groups {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Map<String, Class<?>> ASSIGNORS =
      Map.of("eager", RangeAssignor.class, "cooperative", CooperativeStickyAssignor.class);

  private final Properties shared;
  private final Admin admin;
  private final Map<String, KafkaConsumer<String, String>> members = new HashMap<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  Groups(Properties shared, Admin admin, Map<String, Client.Call> calls) {
    this.shared = shared;
    this.admin = admin;
    calls.put("join", this::join);
    calls.put("poll", this::poll);
    calls.put("assignment", asked -> numbers(member(asked).assignment()));
    calls.put("commit", this::commit);
    calls.put("leave", this::leave);
    calls.put("list_groups", this::list);
    calls.put("describe_group", this::describe);
    calls.put("group_offsets", this::offsets);
    calls.put("delete_group", this::delete);
  }

  void close() {
    members.values().forEach(KafkaConsumer::close);
    threads.shutdown();
  }

  private KafkaConsumer<String, String> member(JsonNode asked) {
    return members.get(asked.get("member").asText());
  }

  private static String group(JsonNode asked) {
    return asked.get("group").asText();
  }

  private static List<Integer> numbers(Collection<TopicPartition> partitions) {
    return partitions.stream().map(TopicPartition::partition).toList();
  }

  private Object join(JsonNode asked) throws Lacks {
    Properties settings = new Properties();
    settings.putAll(shared);
    settings.put("client.id", asked.get("member").asText());
    settings.put("group.id", group(asked));
    addStrategy(settings, asked.get("strategy").asText());
    settings.put("max.poll.records", "5");
    settings.put("enable.auto.commit", "false");
    settings.put("auto.offset.reset", "earliest");
    StringDeserializer texts = new StringDeserializer();
    KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, texts, texts);
    boolean commits = asked.get("commits").asBoolean();
    consumer.subscribe(List.of(asked.get("topic").asText()), new ConsumerRebalanceListener() {
      @Override
      public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
        if (commits) {
          consumer.commitSync();
        }
      }

      @Override
      public void onPartitionsAssigned(Collection<TopicPartition> assigned) {}
    });
    members.put(asked.get("member").asText(), consumer);
    return null;
  }

  /** The broker of a newer group decides about its times. */
  private static void addStrategy(Properties settings, String strategy) throws Lacks {
    if (strategy.equals("consumer")) {
      if (!ConsumerConfig.configNames().contains("group.protocol")) {
        throw new Lacks("no setting group.protocol");
      }
      settings.put("group.protocol", "consumer");
      return;
    }
    settings.put("partition.assignment.strategy", ASSIGNORS.get(strategy).getName());
    settings.put("session.timeout.ms", "30000");
    settings.put("heartbeat.interval.ms", "300");
  }

  /** At the same time: a rebalance goes on in polls, of all members. */
  private Object poll(JsonNode asked) throws Exception {
    List<Callable<List<List<Object>>>> polls = new ArrayList<>();
    asked.get("members").forEach(name -> polls.add(() -> pollOne(name.asText())));
    List<List<Object>> found = new ArrayList<>();
    for (Future<List<List<Object>>> done : threads.invokeAll(polls)) {
      found.addAll(done.get());
    }
    return found;
  }

  private List<List<Object>> pollOne(String name) {
    List<List<Object>> found = new ArrayList<>();
    members.get(name).poll(POLL).forEach(one -> found.add(List.of(name, Records.asRead(one))));
    return found;
  }

  private Object commit(JsonNode asked) {
    member(asked).commitSync();
    return null;
  }

  private Object leave(JsonNode asked) {
    members.remove(asked.get("member").asText()).close();
    return null;
  }

  private Object list(JsonNode asked) throws Exception {
    Object listed = Either.call(admin, "listGroups", "listConsumerGroups");
    List<Object> names = new ArrayList<>();
    for (Object one : (Collection<?>) ((KafkaFuture<?>) Either.call(listed, "all")).get()) {
      names.add(Either.call(one, "groupId"));
    }
    return names;
  }

  private Object describe(JsonNode asked) throws Exception {
    ConsumerGroupDescription found =
        admin.describeConsumerGroups(List.of(group(asked))).all().get().get(group(asked));
    List<List<Object>> told = new ArrayList<>();
    found.members().forEach(one ->
        told.add(List.of(one.clientId(), numbers(one.assignment().topicPartitions()))));
    return Map.of("state", Either.call(found, "groupState", "state").toString(), "members", told);
  }

  private Object offsets(JsonNode asked) throws Exception {
    List<List<Object>> found = new ArrayList<>();
    admin.listConsumerGroupOffsets(group(asked)).partitionsToOffsetAndMetadata().get().forEach(
        (at, told) -> found.add(List.of(at.topic(), at.partition(), told.offset())));
    return found;
  }

  private Object delete(JsonNode asked) throws Exception {
    admin.deleteConsumerGroups(List.of(group(asked))).all().get();
    return null;
  }
}
