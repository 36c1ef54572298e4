package clients;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;

/** The official clients do what they are told: a call on a line of JSON, its answer on another. */
public final class Client {
  static final ObjectMapper JSON = new ObjectMapper();

  interface Call {
    Object answer(JsonNode asked) throws Exception;
  }

  private final Map<String, Call> calls = new HashMap<>();
  private final Admin admin;
  private final Groups groups;

  private Client(String bootstrap) {
    Properties shared = new Properties();
    shared.put("bootstrap.servers", bootstrap);
    shared.put("retry.backoff.ms", "50");
    admin = Admin.create(shared);
    groups = new Groups(shared, admin, calls);
    new Topics(admin, calls);
    new Records(shared, calls);
    new Transactions(shared, calls);
  }

  public static void main(String[] words) throws Exception {
    Client client = new Client(words[0]);
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(JSON.writeValueAsString(client.answer(JSON.readTree(line))));
    }
    client.groups.close();
    client.admin.close();
  }

  private Map<String, Object> answer(JsonNode asked) {
    Map<String, Object> said = new HashMap<>();
    try {
      String name = asked.get("call").asText();
      if (!calls.containsKey(name)) {
        throw new Lacks("no call " + name);
      }
      said.put("answer", calls.get(name).answer(asked));
    } catch (Lacks why) {
      said.put("lacks", why.getMessage());
    } catch (Exception problem) {
      problem.printStackTrace();
      said.put("error", problem.toString());
    }
    return said;
  }
}
