package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/IBM/sarama"
)

var saramaCodecs = map[string]sarama.CompressionCodec{
	"none":   sarama.CompressionNone,
	"gzip":   sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy,
	"lz4":    sarama.CompressionLZ4,
	"zstd":   sarama.CompressionZSTD,
}

func idempotent(config *sarama.Config) {
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1
}

func (d *saramaDriver) produce(_ context.Context, asked call) (any, error) {
	config := saramaConfig()
	config.Producer.Compression = saramaCodecs[asked.Codec]
	if asked.Idempotent != nil && *asked.Idempotent {
		idempotent(config)
	}
	producer, err := sarama.NewSyncProducer(d.addresses, config)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	var messages []*sarama.ProducerMessage
	for _, one := range asked.Records {
		messages = append(messages, saramaMessage(asked.Topic, one))
	}
	if err := producer.SendMessages(messages); err != nil {
		return nil, err
	}
	return saramaPlaces(messages), nil
}

func saramaMessage(topic string, one record) *sarama.ProducerMessage {
	made := &sarama.ProducerMessage{
		Topic: topic, Partition: one.Partition, Timestamp: time.UnixMilli(one.TimestampMs),
	}
	if one.Key != nil {
		made.Key = sarama.StringEncoder(*one.Key)
	}
	if one.Value != nil {
		made.Value = sarama.StringEncoder(*one.Value)
	}
	for _, pair := range one.Headers {
		header := sarama.RecordHeader{Key: []byte(*pair[0]), Value: bytesOf(pair[1])}
		made.Headers = append(made.Headers, header)
	}
	return made
}

func saramaPlaces(messages []*sarama.ProducerMessage) [][2]int64 {
	places := [][2]int64{}
	for _, one := range messages {
		places = append(places, [2]int64{int64(one.Partition), one.Offset})
	}
	return places
}

func (d *saramaDriver) transact(_ context.Context, asked call) (any, error) {
	config := saramaConfig()
	idempotent(config)
	config.Producer.Transaction.ID = asked.TransactionalID
	producer, err := sarama.NewSyncProducer(d.addresses, config)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	if err := producer.BeginTxn(); err != nil {
		return nil, err
	}
	var messages []*sarama.ProducerMessage
	for _, value := range asked.Values {
		messages = append(messages, &sarama.ProducerMessage{
			Topic: asked.Topic, Partition: asked.Partition, Value: sarama.StringEncoder(value),
		})
	}
	if err := producer.SendMessages(messages); err != nil {
		return nil, err
	}
	if asked.Commits {
		err = producer.CommitTxn()
	} else {
		err = producer.AbortTxn()
	}
	return saramaPlaces(messages), err
}

func (d *saramaDriver) read(ctx context.Context, asked call) (any, error) {
	config := saramaConfig()
	if asked.Committed {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	consumer, err := sarama.NewConsumer(d.addresses, config)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	from, err := consumer.ConsumePartition(asked.Topic, asked.Partition, asked.Offset)
	if err != nil {
		return nil, err
	}
	defer from.AsyncClose()
	found := []record{}
	for len(found) < asked.Count {
		select {
		case one := <-from.Messages():
			if one == nil {
				return nil, fmt.Errorf("%d of %d records came", len(found), asked.Count)
			}
			found = append(found, saramaRead(one))
		case err := <-from.Errors():
			fmt.Fprintln(os.Stderr, err)
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d records came", len(found), asked.Count)
		}
	}
	return found, nil
}

func saramaRead(one *sarama.ConsumerMessage) record {
	headers := [][2]*string{}
	for _, each := range one.Headers {
		headers = append(headers, [2]*string{textOf(each.Key), textOf(each.Value)})
	}
	at := one.Timestamp.UnixMilli()
	return record{one.Partition, one.Offset, at, textOf(one.Key), textOf(one.Value), headers}
}

func (d *saramaDriver) offsetsForTimes(_ context.Context, asked call) (any, error) {
	client, err := sarama.NewClient(d.addresses, saramaConfig())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	found := [][2]any{}
	for _, pair := range asked.Times {
		offset, err := client.GetOffset(asked.Topic, int32(pair[0]), pair[1])
		if err != nil {
			return nil, err
		}
		if offset < 0 {
			found = append(found, [2]any{pair[0], nil})
		} else {
			found = append(found, [2]any{pair[0], offset})
		}
	}
	return found, nil
}

func (d *saramaDriver) readFromTime(ctx context.Context, asked call) (any, error) {
	client, err := sarama.NewClient(d.addresses, saramaConfig())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	asked.Offset, err = client.GetOffset(asked.Topic, asked.Partition, asked.TimestampMs)
	if err != nil {
		return nil, err
	}
	return d.read(ctx, asked)
}
