package main

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

var kafkaGoCodecs = map[string]kafka.Compression{
	"none":   0,
	"gzip":   kafka.Gzip,
	"snappy": kafka.Snappy,
	"lz4":    kafka.Lz4,
	"zstd":   kafka.Zstd,
}

// place is where a record is to go, and where it went.
type place struct {
	partition int
	offset    int64
}

func (d *kafkaGo) produce(ctx context.Context, asked call) (any, error) {
	if asked.Idempotent != nil && *asked.Idempotent {
		return nil, lacks("no idempotent producer")
	}
	writer := &kafka.Writer{
		Addr:         kafka.TCP(d.addresses...),
		Topic:        asked.Topic,
		Balancer:     kafka.BalancerFunc(toItsPlace),
		RequiredAcks: kafka.RequireAll,
		Compression:  kafkaGoCodecs[asked.Codec],
		BatchTimeout: lingerTime,
		BatchBytes:   1 << 20,
		Transport:    d.transport,
		Completion:   noteOffsets,
	}
	var messages []kafka.Message
	for _, one := range asked.Records {
		messages = append(messages, kafkaGoMessage(one))
	}
	if err := writer.WriteMessages(ctx, messages...); err != nil {
		writer.Close()
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	places := [][2]int64{}
	for _, one := range messages {
		at := one.WriterData.(*place)
		places = append(places, [2]int64{int64(at.partition), at.offset})
	}
	return places, nil
}

func toItsPlace(message kafka.Message, _ ...int) int {
	return message.WriterData.(*place).partition
}

func noteOffsets(messages []kafka.Message, _ error) {
	for _, one := range messages {
		one.WriterData.(*place).offset = one.Offset
	}
}

func kafkaGoMessage(one record) kafka.Message {
	made := kafka.Message{
		Key:        bytesOf(one.Key),
		Value:      bytesOf(one.Value),
		Time:       time.UnixMilli(one.TimestampMs),
		WriterData: &place{partition: int(one.Partition)},
	}
	for _, pair := range one.Headers {
		made.Headers = append(made.Headers, kafka.Header{Key: *pair[0], Value: bytesOf(pair[1])})
	}
	return made
}

func (d *kafkaGo) transact(context.Context, call) (any, error) {
	return nil, lacks("no transactional producer")
}

func (d *kafkaGo) reader(topic string, partition int32, committed bool) *kafka.Reader {
	config := kafka.ReaderConfig{
		Brokers:          d.addresses,
		Topic:            topic,
		Partition:        int(partition),
		MinBytes:         1,
		MaxBytes:         10 << 20,
		MaxWait:          pollTime,
		ReadBatchTimeout: pollTime,
	}
	if committed {
		config.IsolationLevel = kafka.ReadCommitted
	}
	return kafka.NewReader(config)
}

func (d *kafkaGo) read(ctx context.Context, asked call) (any, error) {
	reader := d.reader(asked.Topic, asked.Partition, asked.Committed)
	defer reader.Close()
	if err := reader.SetOffset(asked.Offset); err != nil {
		return nil, err
	}
	return taken(ctx, reader, asked.Count)
}

func taken(ctx context.Context, reader *kafka.Reader, count int) (any, error) {
	found := []record{}
	for len(found) < count {
		one, err := reader.ReadMessage(ctx)
		if err != nil {
			return nil, fmt.Errorf("%d of %d records came: %w", len(found), count, err)
		}
		found = append(found, kafkaGoRead(one))
	}
	return found, nil
}

func kafkaGoRead(one kafka.Message) record {
	headers := [][2]*string{}
	for _, each := range one.Headers {
		headers = append(headers, [2]*string{&each.Key, textOf(each.Value)})
	}
	at := one.Time.UnixMilli()
	return record{int32(one.Partition), one.Offset, at, textOf(one.Key), textOf(one.Value), headers}
}

func (d *kafkaGo) offsetsForTimes(ctx context.Context, asked call) (any, error) {
	found := [][2]any{}
	for _, pair := range asked.Times {
		answer, err := d.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
			Topics: map[string][]kafka.OffsetRequest{
				asked.Topic: {{Partition: int(pair[0]), Timestamp: pair[1]}},
			},
		})
		if err != nil {
			return nil, err
		}
		one := answer.Topics[asked.Topic][0]
		if one.Error != nil {
			return nil, one.Error
		}
		found = append(found, [2]any{pair[0], firstOffset(one)})
	}
	return found, nil
}

// firstOffset is null where there is no record of that time: the answer has the offset -1.
func firstOffset(one kafka.PartitionOffsets) *int64 {
	for offset := range one.Offsets {
		if offset >= 0 {
			return &offset
		}
	}
	return nil
}

func (d *kafkaGo) readFromTime(ctx context.Context, asked call) (any, error) {
	reader := d.reader(asked.Topic, asked.Partition, false)
	defer reader.Close()
	if err := reader.SetOffsetAt(ctx, time.UnixMilli(asked.TimestampMs)); err != nil {
		return nil, err
	}
	return taken(ctx, reader, asked.Count)
}
