package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const lingerTime = 100 * time.Millisecond

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

func (d *driver) produce(ctx context.Context, asked call) (any, error) {
	producer, err := kgo.NewClient(
		d.bootstrap,
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(codecs[asked.Codec]),
		kgo.ProducerLinger(lingerTime),
	)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	var records []*kgo.Record
	for _, one := range asked.Records {
		records = append(records, toSend(asked.Topic, one))
	}
	if err := producer.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, err
	}
	places := [][2]int64{}
	for _, one := range records {
		places = append(places, [2]int64{int64(one.Partition), one.Offset})
	}
	return places, nil
}

func toSend(topic string, one record) *kgo.Record {
	made := &kgo.Record{
		Topic:     topic,
		Partition: one.Partition,
		Timestamp: time.UnixMilli(one.TimestampMs),
		Key:       bytesOf(one.Key),
		Value:     bytesOf(one.Value),
	}
	for _, pair := range one.Headers {
		made.Headers = append(made.Headers, kgo.RecordHeader{Key: *pair[0], Value: bytesOf(pair[1])})
	}
	return made
}

func asRead(one *kgo.Record) record {
	headers := [][2]*string{}
	for _, each := range one.Headers {
		headers = append(headers, [2]*string{&each.Key, textOf(each.Value)})
	}
	at := one.Timestamp.UnixMilli()
	return record{one.Partition, one.Offset, at, textOf(one.Key), textOf(one.Value), headers}
}

func bytesOf(text *string) []byte {
	if text == nil {
		return nil
	}
	return []byte(*text)
}

func textOf(data []byte) *string {
	if data == nil {
		return nil
	}
	text := string(data)
	return &text
}

func (d *driver) read(ctx context.Context, asked call) (any, error) {
	return d.readFrom(ctx, asked, kgo.NewOffset().At(asked.Offset))
}

func (d *driver) readFromTime(ctx context.Context, asked call) (any, error) {
	return d.readFrom(ctx, asked, kgo.NewOffset().AfterMilli(asked.TimestampMs))
}

func (d *driver) readFrom(ctx context.Context, asked call, from kgo.Offset) (any, error) {
	places := map[string]map[int32]kgo.Offset{asked.Topic: {asked.Partition: from}}
	reader, err := kgo.NewClient(d.bootstrap, kgo.ConsumePartitions(places))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	found := []record{}
	for len(found) < asked.Count {
		fetches := reader.PollRecords(ctx, asked.Count-len(found))
		if err := fetches.Err(); err != nil {
			return nil, fmt.Errorf("%d of %d records came: %w", len(found), asked.Count, err)
		}
		fetches.EachRecord(func(one *kgo.Record) { found = append(found, asRead(one)) })
	}
	return found, nil
}

// offsetsForTimes asks once for each time: a question of this client has one for all partitions.
func (d *driver) offsetsForTimes(ctx context.Context, asked call) (any, error) {
	found := [][2]any{}
	for _, pair := range asked.Times {
		all, err := d.admin.ListOffsetsAfterMilli(ctx, pair[1], asked.Topic)
		if err == nil {
			err = all.Error()
		}
		if err != nil {
			return nil, err
		}
		one, _ := all.Lookup(asked.Topic, int32(pair[0]))
		found = append(found, [2]any{one.Partition, offsetOrNone(one)})
	}
	return found, nil
}

// offsetOrNone knows that this client puts the end where there is no such record.
func offsetOrNone(one kadm.ListedOffset) *int64 {
	if one.Timestamp < 0 {
		return nil
	}
	return &one.Offset
}
