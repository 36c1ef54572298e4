package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

var franzCodecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

func (d *franz) produce(ctx context.Context, asked call) (any, error) {
	options := []kgo.Opt{
		d.bootstrap,
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(franzCodecs[asked.Codec]),
		kgo.ProducerLinger(lingerTime),
	}
	if asked.Idempotent != nil && !*asked.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	producer, err := kgo.NewClient(options...)
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
	return franzPlaces(records), nil
}

func franzPlaces(records []*kgo.Record) [][2]int64 {
	places := [][2]int64{}
	for _, one := range records {
		places = append(places, [2]int64{int64(one.Partition), one.Offset})
	}
	return places
}

func (d *franz) transact(ctx context.Context, asked call) (any, error) {
	producer, err := kgo.NewClient(
		d.bootstrap,
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.TransactionalID(asked.TransactionalID),
	)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	if err := producer.BeginTransaction(); err != nil {
		return nil, err
	}
	var records []*kgo.Record
	for _, value := range asked.Values {
		one := &kgo.Record{Topic: asked.Topic, Partition: asked.Partition, Value: []byte(value)}
		records = append(records, one)
	}
	if err := producer.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, err
	}
	err = producer.EndTransaction(ctx, kgo.TransactionEndTry(asked.Commits))
	return franzPlaces(records), err
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

func (d *franz) read(ctx context.Context, asked call) (any, error) {
	return d.readFrom(ctx, asked, kgo.NewOffset().At(asked.Offset))
}

func (d *franz) readFromTime(ctx context.Context, asked call) (any, error) {
	return d.readFrom(ctx, asked, kgo.NewOffset().AfterMilli(asked.TimestampMs))
}

func (d *franz) readFrom(ctx context.Context, asked call, from kgo.Offset) (any, error) {
	places := map[string]map[int32]kgo.Offset{asked.Topic: {asked.Partition: from}}
	options := []kgo.Opt{d.bootstrap, kgo.ConsumePartitions(places)}
	if asked.Committed {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	reader, err := kgo.NewClient(options...)
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
func (d *franz) offsetsForTimes(ctx context.Context, asked call) (any, error) {
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
