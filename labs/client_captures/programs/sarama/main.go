// Sarama writes nine records to a topic and reads them in a group: BOOTSTRAP TOPIC.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/IBM/sarama"
)

const (
	records = 9
	limit   = 60 * time.Second
)

type reader struct {
	found int
	end   context.CancelFunc
}

func (*reader) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (*reader) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (one *reader) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		if one.found++; one.found == records {
			session.Commit()
			one.end()
		}
	}
	return nil
}

func run(bootstrap, topic string) error {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	producer, err := sarama.NewSyncProducer([]string{bootstrap}, config)
	if err != nil {
		return err
	}
	defer producer.Close()
	for number := range records {
		value := sarama.StringEncoder(fmt.Sprintf("value %d", number))
		if _, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: value}); err != nil {
			return err
		}
	}
	group, err := sarama.NewConsumerGroup([]string{bootstrap}, topic+"-group", config)
	if err != nil {
		return err
	}
	defer group.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	one := &reader{end: cancel}
	for one.found < records && ctx.Err() == nil {
		if err := group.Consume(ctx, []string{topic}, one); err != nil && one.found < records {
			return err
		}
	}
	if one.found < records {
		return fmt.Errorf("%d of %d records were read", one.found, records)
	}
	return nil
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
