package clients;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DeletedRecords;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;

/** Topics, by the admin client. */
final class Topics {
  private final Admin admin;

  Topics(Admin admin, Map<String, Client.Call> calls) {
    this.admin = admin;
    calls.put("create_topic", this::create);
    calls.put("list_topics", asked -> admin.listTopics().names().get());
    calls.put("describe_topic", this::describe);
    calls.put("describe_configs", this::describeConfigs);
    calls.put("alter_configs", this::alterConfigs);
    calls.put("create_partitions", this::createPartitions);
    calls.put("delete_records", this::deleteRecords);
    calls.put("delete_topic", this::delete);
  }

  private static String topic(JsonNode asked) {
    return asked.get("topic").asText();
  }

  private static Map<String, String> configs(JsonNode asked) {
    Map<String, String> found = new HashMap<>();
    JsonNode given = asked.get("configs");
    given.fieldNames().forEachRemaining(name -> found.put(name, given.get(name).asText()));
    return found;
  }

  private Object create(JsonNode asked) throws Exception {
    NewTopic topic = new NewTopic(topic(asked), asked.get("partitions").asInt(), (short) 1);
    admin.createTopics(List.of(topic.configs(configs(asked)))).all().get();
    return null;
  }

  private Object describe(JsonNode asked) throws Exception {
    Object described = admin.describeTopics(List.of(topic(asked)));
    Map<?, ?> answers = (Map<?, ?>) Either.call(described, "topicNameValues", "values");
    TopicDescription found =
        (TopicDescription) ((KafkaFuture<?>) answers.get(topic(asked))).get();
    List<Map<String, Object>> partitions = new ArrayList<>();
    for (TopicPartitionInfo one : found.partitions()) {
      partitions.add(Map.of(
          "partition", one.partition(), "leader", one.leader().id(),
          "replicas", ids(one.replicas()), "isr", ids(one.isr())));
    }
    return partitions;
  }

  private static List<Integer> ids(List<Node> nodes) {
    return nodes.stream().map(Node::id).toList();
  }

  private static ConfigResource resource(JsonNode asked) {
    return new ConfigResource(ConfigResource.Type.TOPIC, topic(asked));
  }

  private Object describeConfigs(JsonNode asked) throws Exception {
    ConfigResource resource = resource(asked);
    Config found = admin.describeConfigs(List.of(resource)).all().get().get(resource);
    Map<String, String> values = new HashMap<>();
    found.entries().forEach(one -> values.put(one.name(), one.value()));
    return values;
  }

  private Object alterConfigs(JsonNode asked) throws Exception {
    Collection<AlterConfigOp> changes = new ArrayList<>();
    configs(asked).forEach((name, value) ->
        changes.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)));
    admin.incrementalAlterConfigs(Map.of(resource(asked), changes)).all().get();
    return null;
  }

  private Object createPartitions(JsonNode asked) throws Exception {
    NewPartitions total = NewPartitions.increaseTo(asked.get("total").asInt());
    admin.createPartitions(Map.of(topic(asked), total)).all().get();
    return null;
  }

  private Object deleteRecords(JsonNode asked) throws Exception {
    Map<TopicPartition, RecordsToDelete> before = new HashMap<>();
    for (JsonNode pair : asked.get("before")) {
      TopicPartition at = new TopicPartition(topic(asked), pair.get(0).asInt());
      before.put(at, RecordsToDelete.beforeOffset(pair.get(1).asLong()));
    }
    List<List<Object>> found = new ArrayList<>();
    Map<TopicPartition, KafkaFuture<DeletedRecords>> answers =
        admin.deleteRecords(before).lowWatermarks();
    for (Map.Entry<TopicPartition, KafkaFuture<DeletedRecords>> one : answers.entrySet()) {
      found.add(List.of(one.getKey().partition(), one.getValue().get().lowWatermark()));
    }
    return found;
  }

  private Object delete(JsonNode asked) throws Exception {
    admin.deleteTopics(List.of(topic(asked))).all().get();
    return null;
  }
}
