package crosscheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Lines in, lines out. In: {"name", "version", "hex", "json"}, where json may be missing. Out: what
 * the official class reads from the bytes ("value", and "remaining" bytes), writes from what it read
 * ("hex"), and writes from the JSON value ("from_json"); or {"error"}; or {"unknown"}, when this
 * release has no such message or version.
 */
public final class CrossCheck {
    private static final String PACKAGE = "org.apache.kafka.common.message.";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private CrossCheck() {}

    public static void main(String[] arguments) throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(MAPPER.writeValueAsString(answer(MAPPER.readTree(line))));
        }
        out.flush();
    }

    private static ObjectNode answer(JsonNode asked) {
        ObjectNode answer = MAPPER.createObjectNode();
        try {
            fill(answer, asked);
        } catch (InvocationTargetException wrapped) {
            answer.put("error", String.valueOf(wrapped.getCause()));
        } catch (ReflectiveOperationException | RuntimeException problem) {
            answer.put("error", String.valueOf(problem));
        }
        return answer;
    }

    private static void fill(ObjectNode answer, JsonNode asked) throws ReflectiveOperationException {
        String name = asked.get("name").asText();
        short version = asked.get("version").shortValue();
        Class<?> type = typeOf(name);
        if (type == null) {
            answer.put("unknown", "no such message");
            return;
        }
        Class<?> converter = Class.forName(PACKAGE + name + "DataJsonConverter");
        Message message = (Message) type.getConstructor().newInstance();
        if (version < message.lowestSupportedVersion() || version > message.highestSupportedVersion()) {
            answer.put("unknown", "no such version");
            return;
        }
        ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(asked.get("hex").asText()));
        message.read(new ByteBufferAccessor(bytes), version);
        answer.put("remaining", bytes.remaining());
        answer.put("hex", written(message, version));
        var write = converter.getMethod("write", type, short.class, boolean.class);
        answer.set("value", (JsonNode) write.invoke(null, message, version, false));
        if (asked.has("json")) {
            var read = converter.getMethod("read", JsonNode.class, short.class);
            Message made = (Message) read.invoke(null, asked.get("json"), version);
            answer.put("from_json", written(made, version));
        }
    }

    /** Null when this release does not know the message. */
    private static Class<?> typeOf(String name) {
        try {
            return Class.forName(PACKAGE + name + "Data");
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }

    private static String written(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer bytes = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(bytes), cache, version);
        return HexFormat.of().formatHex(bytes.array(), 0, bytes.position());
    }
}
