package crosscheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.RequestHeader;

/** Which header goes with which version. */
final class Headers {
    private Headers() {}

    static void register(Map<String, CrossCheck.Question> questions) {
        questions.put("header_versions", Headers::headerVersions);
        questions.put("request_header", Headers::requestHeader);
    }

    /** In: nothing. Out: {"apis": [{"key", "name", "versions": [[version, request, response]]}]}. */
    private static void headerVersions(JsonNode asked, ObjectNode answer) {
        ArrayNode apis = answer.putArray("apis");
        for (ApiKeys api : ApiKeys.values()) {
            ObjectNode one = apis.addObject().put("key", api.id).put("name", api.name);
            ArrayNode versions = one.putArray("versions");
            for (int version = api.messageType.lowestSupportedVersion();
                    version <= api.messageType.highestSupportedVersion(true);
                    version++) {
                ArrayNode row = versions.addArray().add(version);
                row.add(api.requestHeaderVersion((short) version));
                row.add(api.responseHeaderVersion((short) version));
            }
        }
    }

    /** In: {"hex"}, a whole request. Out: what the header's own parser says, and where it stopped. */
    private static void requestHeader(JsonNode asked, ObjectNode answer) {
        ByteBuffer bytes = Messages.bytes(asked.get("hex"));
        RequestHeader header = RequestHeader.parse(bytes);
        answer.put("api_key", header.apiKey().id);
        answer.put("version", header.apiVersion());
        answer.put("correlation_id", header.correlationId());
        answer.put("client_id", header.clientId());
        answer.put("header_version", header.headerVersion());
        answer.put("body_at", bytes.position());
    }
}
