package crosscheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/** Generated message classes, of the client and of every other jar on the class path. */
final class Messages {
    private static final String CONVERTER = "JsonConverter";
    private static final Pattern PLACE =
            Pattern.compile("(org/apache/)?kafka/.*(common/(message|metadata)|/generated)/[A-Za-z0-9]+\\.class");
    private static final Set<String> BOOKKEEPING = Set.of("_unknownTaggedFields", "next", "prev");
    private static final Map<String, Generated> KNOWN = new HashMap<>();

    private Messages() {}

    static void register(Map<String, CrossCheck.Question> questions) {
        questions.put("classes", Messages::classes);
        questions.put("message", Messages::message);
    }

    /** A class, with its converter when it has one: Streams' classes, and those before 2.7, do not. */
    private static final class Generated {
        final Class<? extends Message> type;
        Method write;
        Method read;

        Generated(String name) throws ReflectiveOperationException {
            type = Class.forName(name).asSubclass(Message.class);
            Class<?> converter;
            try {
                converter = Class.forName(name + CONVERTER);
            } catch (ClassNotFoundException without) {
                return;
            }
            read = converter.getMethod("read", JsonNode.class, short.class);
            for (Method method : converter.getMethods()) {
                if (method.getName().equals("write") && (write == null || method.getParameterCount() > 2)) {
                    write = method;
                }
            }
        }

        Message make() throws ReflectiveOperationException {
            return type.getConstructor().newInstance();
        }

        JsonNode value(Message message, short version) throws ReflectiveOperationException {
            return (JsonNode)
                    (write.getParameterCount() > 2
                            ? write.invoke(null, message, version, false)
                            : write.invoke(null, message, version));
        }
    }

    /**
     * In: {"names"}, simple names or null for all. Out: {"classes": [{"class", "lowest", "highest"}]},
     * of all the jars.
     */
    private static void classes(JsonNode asked, ObjectNode answer)
            throws IOException, ReflectiveOperationException {
        TreeSet<String> names = new TreeSet<>();
        for (String place : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (place.endsWith(".jar")) {
                try (JarFile jar = new JarFile(place)) {
                    jar.stream().map(entry -> entry.getName()).filter(PLACE.asMatchPredicate())
                            .map(name -> name.substring(0, name.length() - ".class".length()))
                            .forEach(name -> names.add(name.replace('/', '.')));
                }
            }
        }
        Set<String> wanted = new HashSet<>();
        asked.get("names").forEach(name -> wanted.add(name.asText()));
        ArrayNode found = answer.putArray("classes");
        for (String name : names) {
            if (!wanted.isEmpty() && !wanted.contains(name.substring(name.lastIndexOf('.') + 1))) {
                continue;
            }
            if (!Message.class.isAssignableFrom(Class.forName(name))) {
                continue; // enums of types and what the generator wrote beside the messages
            }
            Message message = new Generated(name).make();
            ObjectNode one = found.addObject().put("class", name);
            one.put("lowest", message.lowestSupportedVersion());
            one.put("highest", message.highestSupportedVersion());
        }
    }

    /**
     * In: {"class", "version", "hex", "json"}, where json may be missing. Out: what the class reads
     * from the bytes ("value", or without a converter all its "fields"; and "remaining" bytes),
     * writes from what it read ("hex"), and writes from the JSON value ("from_json").
     */
    private static void message(JsonNode asked, ObjectNode answer) throws ReflectiveOperationException {
        String name = asked.get("class").asText();
        if (!KNOWN.containsKey(name)) {
            KNOWN.put(name, new Generated(name));
        }
        Generated generated = KNOWN.get(name);
        short version = asked.get("version").shortValue();
        Message message = generated.make();
        ByteBuffer bytes = bytes(asked.get("hex"));
        message.read(new ByteBufferAccessor(bytes), version);
        answer.put("remaining", bytes.remaining());
        answer.put("hex", written(message, version));
        if (generated.write == null) {
            answer.set("fields", fields(message));
            return;
        }
        answer.set("value", generated.value(message, version));
        if (asked.has("json")) {
            Message made = (Message) generated.read.invoke(null, asked.get("json"), version);
            answer.put("from_json", written(made, version));
        }
    }

    /** All fields, those too that the version lacks. */
    private static JsonNode fields(Message message) throws ReflectiveOperationException {
        ObjectNode found = CrossCheck.MAPPER.createObjectNode();
        for (Field field : message.getClass().getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers()) && !BOOKKEEPING.contains(field.getName())) {
                field.setAccessible(true);
                found.set(field.getName(), value(field.get(message)));
            }
        }
        return found;
    }

    private static JsonNode value(Object held) throws ReflectiveOperationException {
        if (held instanceof Message) {
            return fields((Message) held);
        }
        if (held instanceof Collection) {
            ArrayNode found = CrossCheck.MAPPER.createArrayNode();
            for (Object one : (Collection<?>) held) {
                found.add(value(one));
            }
            return found;
        }
        if (held instanceof ByteBuffer) {
            ByteBuffer bytes = ((ByteBuffer) held).duplicate();
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(copy);
            return CrossCheck.MAPPER.valueToTree(copy);
        }
        if (held instanceof UUID) { // before Kafka had a class of its own, which says itself like this
            ByteBuffer bytes = ByteBuffer.allocate(16);
            bytes.putLong(((UUID) held).getMostSignificantBits());
            bytes.putLong(((UUID) held).getLeastSignificantBits());
            String text = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.array());
            return CrossCheck.MAPPER.valueToTree(text);
        }
        boolean plain = held == null || held instanceof Number || held instanceof Boolean || held instanceof byte[];
        return CrossCheck.MAPPER.valueToTree(plain ? held : String.valueOf(held));
    }

    static String written(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer bytes = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(bytes), cache, version);
        return HexFormat.of().formatHex(bytes.array(), 0, bytes.position());
    }

    static ByteBuffer bytes(JsonNode hex) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex.asText()));
    }
}
