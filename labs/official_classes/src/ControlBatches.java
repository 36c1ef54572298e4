package crosscheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.ControlRecordUtils;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

/** Control batches as brokers and controllers write them, and what their readers see in them. */
final class ControlBatches {
    private static final short FIRST = 0;

    private ControlBatches() {}

    static void register(Map<String, CrossCheck.Question> questions) {
        questions.put("build_control", ControlBatches::build);
        questions.put("read_control", ControlBatches::read);
    }

    /** In: a batch as for "build", its records {"timestamp", "type", "message" or "epoch"}. Out: {"hex"}. */
    private static void build(JsonNode asked, ObjectNode answer) {
        ByteBufferOutputStream out = new ByteBufferOutputStream(1 << 16);
        MemoryRecordsBuilder builder = RecordFormats.builder(out, asked, true);
        for (JsonNode record : asked.get("records")) {
            append(builder, record);
        }
        answer.put("hex", RecordFormats.hex(builder.build().buffer()));
    }

    private static void append(MemoryRecordsBuilder builder, JsonNode record) {
        long time = record.get("timestamp").asLong();
        ControlRecordType type = ControlRecordType.valueOf(record.get("type").asText());
        if (record.has("epoch")) {
            builder.appendEndTxnMarker(time, new EndTransactionMarker(type, record.get("epoch").asInt()));
            return;
        }
        Readable message = new ByteBufferAccessor(Messages.bytes(record.get("message")));
        switch (type) {
            case LEADER_CHANGE:
                builder.appendLeaderChangeMessage(time, new LeaderChangeMessage(message, FIRST));
                break;
            case SNAPSHOT_HEADER:
                builder.appendSnapshotHeaderMessage(time, new SnapshotHeaderRecord(message, FIRST));
                break;
            case SNAPSHOT_FOOTER:
                builder.appendSnapshotFooterMessage(time, new SnapshotFooterRecord(message, FIRST));
                break;
            case KRAFT_VERSION:
                builder.appendKRaftVersionMessage(time, new KRaftVersionRecord(message, FIRST));
                break;
            case KRAFT_VOTERS:
                builder.appendVotersMessage(time, new VotersRecord(message, FIRST));
                break;
            default:
                throw new IllegalArgumentException("no control record " + type);
        }
    }

    /** In: {"hex"}, control batches. Out: {"records": [{"type", "epoch" or "message"}]}. */
    private static void read(JsonNode asked, ObjectNode answer) {
        var records = answer.putArray("records");
        for (RecordBatch batch : MemoryRecords.readableRecords(Messages.bytes(asked.get("hex"))).batches()) {
            batch.ensureValid();
            for (Record record : batch) {
                ObjectNode one = records.addObject();
                ControlRecordType type = ControlRecordType.parse(record.key());
                one.put("type", type.name());
                if (type == ControlRecordType.ABORT || type == ControlRecordType.COMMIT) {
                    one.put("epoch", EndTransactionMarker.deserialize(record).coordinatorEpoch());
                } else {
                    Message message = message(type, record);
                    one.put("message", message == null ? null : Messages.written(message, FIRST));
                }
            }
        }
    }

    private static Message message(ControlRecordType type, Record record) {
        switch (type) {
            case LEADER_CHANGE:
                return ControlRecordUtils.deserializeLeaderChangeMessage(record);
            case SNAPSHOT_HEADER:
                return ControlRecordUtils.deserializeSnapshotHeaderRecord(record);
            case SNAPSHOT_FOOTER:
                return ControlRecordUtils.deserializeSnapshotFooterRecord(record);
            case KRAFT_VERSION:
                return ControlRecordUtils.deserializeKRaftVersionRecord(record);
            case KRAFT_VOTERS:
                return ControlRecordUtils.deserializeVotersRecord(record);
            default:
                return null;
        }
    }
}
