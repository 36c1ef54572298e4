package crosscheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

/** Record batches and message sets, by the classes that the client and the broker share. */
final class RecordFormats {
    private static final int SPACE = 1 << 20;

    private RecordFormats() {}

    static void register(Map<String, CrossCheck.Question> questions) {
        questions.put("read", RecordFormats::read);
        questions.put("build", RecordFormats::build);
        questions.put("down_convert", RecordFormats::downConvert);
        questions.put("up_convert", RecordFormats::upConvert);
        questions.put("compact", RecordFormats::compact);
    }

    /**
     * In: {"hex"}. Out: {"batches", "valid_bytes"}: every batch with its records, checksums verified;
     * when something is refused {"error"} too, and the batches before it.
     */
    private static void read(JsonNode asked, ObjectNode answer) {
        MemoryRecords records = MemoryRecords.readableRecords(Messages.bytes(asked.get("hex")));
        ArrayNode batches = answer.putArray("batches");
        for (RecordBatch batch : records.batches()) {
            batch.ensureValid();
            ObjectNode one = CrossCheck.MAPPER.createObjectNode();
            describe(batch, one);
            ArrayNode found = one.putArray("records");
            for (Record record : batch) {
                record.ensureValid();
                describe(record, found.addObject());
            }
            batches.add(one);
        }
        answer.put("valid_bytes", records.validBytes());
    }

    private static void describe(RecordBatch batch, ObjectNode out) {
        out.put("magic", batch.magic());
        out.put("base_offset", batch.baseOffset());
        out.put("last_offset", batch.lastOffset());
        out.put("size_bytes", batch.sizeInBytes());
        out.put("compression", batch.compressionType().name);
        out.put("timestamp_type", batch.timestampType().name);
        out.put("max_timestamp", batch.maxTimestamp());
        out.put("partition_leader_epoch", batch.partitionLeaderEpoch());
        out.put("producer_id", batch.producerId());
        out.put("producer_epoch", batch.producerEpoch());
        out.put("base_sequence", batch.baseSequence());
        out.put("last_sequence", batch.lastSequence());
        out.put("transactional", batch.isTransactional());
        out.put("control", batch.isControlBatch());
        if (batch.deleteHorizonMs().isPresent()) {
            out.put("delete_horizon", batch.deleteHorizonMs().getAsLong());
        }
        if (batch instanceof DefaultRecordBatch) {
            out.put("base_timestamp", ((DefaultRecordBatch) batch).baseTimestamp());
            out.put("checksum", batch.checksum());
        }
    }

    private static void describe(Record record, ObjectNode out) {
        out.put("offset", record.offset());
        out.put("timestamp", record.timestamp());
        out.put("key", hex(record.key()));
        out.put("value", hex(record.value()));
        ArrayNode headers = out.putArray("headers");
        for (Header header : record.headers()) {
            byte[] value = header.value();
            headers.addArray().add(header.key()).add(value == null ? null : hex(ByteBuffer.wrap(value)));
        }
    }

    /** In: a batch by its values, see the Python side. Out: {"hex"}. */
    private static void build(JsonNode asked, ObjectNode answer) throws Exception {
        ByteBufferOutputStream out = new ByteBufferOutputStream(SPACE);
        MemoryRecordsBuilder builder = builder(out, asked, false);
        for (JsonNode record : asked.get("records")) {
            byte[] key = binary(record.get("key"));
            byte[] value = binary(record.get("value"));
            List<Header> headers = new ArrayList<>();
            for (JsonNode header : record.get("headers")) {
                headers.add(new RecordHeader(header.get(0).asText(), binary(header.get(1))));
            }
            builder.appendWithOffset(
                    record.get("offset").asLong(),
                    record.get("timestamp").asLong(),
                    key,
                    value,
                    headers.toArray(new Header[0]));
        }
        answer.put("hex", hex(builder.build().buffer()));
    }

    static MemoryRecordsBuilder builder(ByteBufferOutputStream out, JsonNode asked, boolean control) {
        boolean byBroker = asked.get("timestamp_type").asText().equals(TimestampType.LOG_APPEND_TIME.name);
        byte magic = (byte) asked.get("magic").asInt();
        return new MemoryRecordsBuilder(
                out,
                magic,
                Compression.of(asked.get("compression").asText()).build(),
                magic == 0
                        ? TimestampType.NO_TIMESTAMP_TYPE
                        : byBroker ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
                asked.get("base_offset").asLong(),
                asked.get("log_append_time").asLong(),
                asked.get("producer_id").asLong(),
                asked.get("producer_epoch").shortValue(),
                asked.get("base_sequence").asInt(),
                asked.get("transactional").asBoolean(),
                control,
                asked.get("partition_leader_epoch").asInt(),
                SPACE,
                asked.get("delete_horizon").asLong());
    }

    /** In: {"hex", "to_magic", "first_offset"}. Out: {"hex"}. 4.0 has it no more. */
    private static void downConvert(JsonNode asked, ObjectNode answer) throws Exception {
        MemoryRecords records = MemoryRecords.readableRecords(Messages.bytes(asked.get("hex")));
        Method convert = MemoryRecords.class.getMethod("downConvert", byte.class, long.class, Time.class);
        Object converted =
                convert.invoke(
                        records,
                        (byte) asked.get("to_magic").asInt(),
                        asked.get("first_offset").asLong(),
                        Time.SYSTEM);
        Object made = converted.getClass().getMethod("records").invoke(converted);
        answer.put("hex", hex(((MemoryRecords) made).buffer()));
    }

    /** In: a batch without records, and "hex", a set to be appended to it as a broker does. Out: {"hex"}. */
    private static void upConvert(JsonNode asked, ObjectNode answer) {
        MemoryRecordsBuilder builder = builder(new ByteBufferOutputStream(SPACE), asked, false);
        long offset = asked.get("base_offset").asLong();
        MemoryRecords records = MemoryRecords.readableRecords(Messages.bytes(asked.get("hex")));
        for (RecordBatch batch : records.batches()) {
            for (Record record : batch) {
                builder.appendWithOffset(offset++, record);
            }
        }
        answer.put("hex", hex(builder.build().buffer()));
    }

    /** In: {"hex", "keep", "now", "delete_retention_ms"}. Out: {"hex"}, as the log cleaner leaves it. */
    private static void compact(JsonNode asked, ObjectNode answer) throws Exception {
        Set<Long> keep = new HashSet<>();
        asked.get("keep").forEach(offset -> keep.add(offset.asLong()));
        long now = asked.get("now").asLong();
        var filter =
                new MemoryRecords.RecordFilter(now, asked.get("delete_retention_ms").asLong()) {
                    @Override
                    protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
                        BatchRetention empty =
                                batch.magic() > 1 ? BatchRetention.RETAIN_EMPTY : BatchRetention.DELETE_EMPTY;
                        return new BatchRetentionResult(empty, false);
                    }

                    @Override
                    protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
                        return keep.contains(record.offset());
                    }
                };
        ByteBuffer into = ByteBuffer.allocate(SPACE);
        MemoryRecords records = MemoryRecords.readableRecords(Messages.bytes(asked.get("hex")));
        Map<Class<?>, Object> given =
                Map.of(
                        TopicPartition.class, new TopicPartition("topic", 0),
                        MemoryRecords.RecordFilter.class, filter,
                        ByteBuffer.class, into,
                        int.class, SPACE,
                        BufferSupplier.class, BufferSupplier.NO_CACHING);
        Object result = null;
        for (Method method : MemoryRecords.class.getMethods()) {
            if (method.getName().equals("filterTo")) { // its arguments changed between releases
                List<Object> arguments = new ArrayList<>();
                for (Class<?> type : method.getParameterTypes()) {
                    arguments.add(given.get(type));
                }
                result = method.invoke(records, arguments.toArray());
            }
        }
        answer.put("hex", hex(((MemoryRecords.FilterResult) result).outputBuffer().flip()));
    }

    static byte[] binary(JsonNode hex) {
        return hex.isNull() ? null : HexFormat.of().parseHex(hex.asText());
    }

    static String hex(ByteBuffer bytes) {
        if (bytes == null) {
            return null;
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return HexFormat.of().formatHex(copy);
    }
}
