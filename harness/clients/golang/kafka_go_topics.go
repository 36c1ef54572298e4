package main

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"
)

type kafkaGo struct {
	addresses []string
	client    *kafka.Client
	transport *kafka.Transport
	members   map[string]*kafkaGoMember
}

func newKafkaGo(addresses []string) (driver, error) {
	transport := &kafka.Transport{MetadataTTL: freshTime}
	client := &kafka.Client{Addr: kafka.TCP(addresses...), Timeout: requestTime, Transport: transport}
	return &kafkaGo{addresses, client, transport, map[string]*kafkaGoMember{}}, nil
}

func (d *kafkaGo) close() {
	for _, one := range d.members {
		one.end()
	}
	d.transport.CloseIdleConnections()
}

func kafkaGoDialer(client string) *kafka.Dialer {
	return &kafka.Dialer{ClientID: client, Timeout: 10 * time.Second, DualStack: true}
}

func (d *kafkaGo) createTopic(ctx context.Context, asked call) (any, error) {
	topic := kafka.TopicConfig{
		Topic: asked.Topic, NumPartitions: int(asked.Partitions), ReplicationFactor: 1,
	}
	for name, value := range asked.Configs {
		entry := kafka.ConfigEntry{ConfigName: name, ConfigValue: value}
		topic.ConfigEntries = append(topic.ConfigEntries, entry)
	}
	asks := &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{topic}}
	found, err := d.client.CreateTopics(ctx, asks)
	if err != nil {
		return nil, err
	}
	return nil, found.Errors[asked.Topic]
}

func (d *kafkaGo) listTopics(ctx context.Context, _ call) (any, error) {
	found, err := d.client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, one := range found.Topics {
		names = append(names, one.Name)
	}
	return names, nil
}

func (d *kafkaGo) described(ctx context.Context, topic string) (*kafka.Topic, error) {
	found, err := d.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	return &found.Topics[0], found.Topics[0].Error
}

func (d *kafkaGo) describeTopic(ctx context.Context, asked call) (any, error) {
	topic, err := d.described(ctx, asked.Topic)
	if err != nil {
		return nil, err
	}
	partitions := []map[string]any{}
	for _, one := range topic.Partitions {
		partitions = append(partitions, map[string]any{
			"partition": one.ID, "leader": one.Leader.ID,
			"replicas": brokerIDs(one.Replicas), "isr": brokerIDs(one.Isr),
		})
	}
	return partitions, nil
}

func brokerIDs(brokers []kafka.Broker) []int {
	found := []int{}
	for _, one := range brokers {
		found = append(found, one.ID)
	}
	return found
}

func (d *kafkaGo) describeConfigs(ctx context.Context, asked call) (any, error) {
	resource := kafka.DescribeConfigRequestResource{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: asked.Topic,
	}
	answer, err := d.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{resource},
	})
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, one := range answer.Resources[0].ConfigEntries {
		found[one.ConfigName] = one.ConfigValue
	}
	return found, answer.Resources[0].Error
}

func (d *kafkaGo) alterConfigs(ctx context.Context, asked call) (any, error) {
	resource := kafka.IncrementalAlterConfigsRequestResource{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: asked.Topic,
	}
	for name, value := range asked.Configs {
		resource.Configs = append(resource.Configs, kafka.IncrementalAlterConfigsRequestConfig{
			Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet,
		})
	}
	answer, err := d.client.IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{resource},
	})
	if err != nil {
		return nil, err
	}
	return nil, answer.Resources[0].Error
}

func (d *kafkaGo) createPartitions(ctx context.Context, asked call) (any, error) {
	answer, err := d.client.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: asked.Topic, Count: int32(asked.Total)}},
	})
	if err != nil {
		return nil, err
	}
	return nil, answer.Errors[asked.Topic]
}

func (d *kafkaGo) deleteRecords(context.Context, call) (any, error) {
	return nil, lacks("no DeleteRecords")
}

func (d *kafkaGo) deleteTopic(ctx context.Context, asked call) (any, error) {
	asks := &kafka.DeleteTopicsRequest{Topics: []string{asked.Topic}}
	answer, err := d.client.DeleteTopics(ctx, asks)
	if err != nil {
		return nil, err
	}
	return nil, answer.Errors[asked.Topic]
}
