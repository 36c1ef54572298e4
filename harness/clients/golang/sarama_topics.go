package main

import (
	"context"

	"github.com/IBM/sarama"
)

// saramaDriver has a client of its own for each call but those of groups, so that its metadata are new.
type saramaDriver struct {
	addresses []string
	members   map[string]*saramaMember
}

func newSarama(addresses []string) (driver, error) {
	return &saramaDriver{addresses, map[string]*saramaMember{}}, nil
}

func (d *saramaDriver) close() {
	for _, one := range d.members {
		one.end()
	}
}

func saramaConfig() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Metadata.Retry.Backoff = 5 * retryTime
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Flush.Frequency = lingerTime
	config.Producer.Flush.Messages = 1000
	config.Producer.Retry.Backoff = 2 * retryTime
	config.Producer.Retry.Max = 10
	config.Consumer.Return.Errors = true
	config.Consumer.Fetch.Default = 1 << 20
	config.Consumer.Retry.Backoff = 5 * retryTime
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.Session.Timeout = sessionTime
	config.Consumer.Group.Heartbeat.Interval = heartbeatTime
	config.Admin.Timeout = requestTime
	return config
}

func (d *saramaDriver) administer(do func(sarama.ClusterAdmin) (any, error)) (any, error) {
	admin, err := sarama.NewClusterAdmin(d.addresses, saramaConfig())
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	return do(admin)
}

func (d *saramaDriver) createTopic(_ context.Context, asked call) (any, error) {
	detail := &sarama.TopicDetail{
		NumPartitions: asked.Partitions, ReplicationFactor: 1, ConfigEntries: map[string]*string{},
	}
	for name, value := range asked.Configs {
		detail.ConfigEntries[name] = &value
	}
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		return nil, admin.CreateTopic(asked.Topic, detail, false)
	})
}

func (d *saramaDriver) listTopics(_ context.Context, _ call) (any, error) {
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		found, err := admin.ListTopics()
		names := []string{}
		for name := range found {
			names = append(names, name)
		}
		return names, err
	})
}

func (d *saramaDriver) describeTopic(_ context.Context, asked call) (any, error) {
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		found, err := admin.DescribeTopics([]string{asked.Topic})
		if err != nil {
			return nil, err
		}
		partitions := []map[string]any{}
		for _, one := range found[0].Partitions {
			partitions = append(partitions, map[string]any{
				"partition": one.ID, "leader": one.Leader, "replicas": one.Replicas, "isr": one.Isr,
			})
		}
		if found[0].Err != sarama.ErrNoError {
			return nil, found[0].Err
		}
		return partitions, nil
	})
}

func (d *saramaDriver) describeConfigs(_ context.Context, asked call) (any, error) {
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		resource := sarama.ConfigResource{Type: sarama.TopicResource, Name: asked.Topic}
		entries, err := admin.DescribeConfig(resource)
		found := map[string]string{}
		for _, one := range entries {
			found[one.Name] = one.Value
		}
		return found, err
	})
}

func (d *saramaDriver) alterConfigs(_ context.Context, asked call) (any, error) {
	entries := map[string]sarama.IncrementalAlterConfigsEntry{}
	for name, value := range asked.Configs {
		operation := sarama.IncrementalAlterConfigsOperationSet
		entries[name] = sarama.IncrementalAlterConfigsEntry{Operation: operation, Value: &value}
	}
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		return nil, admin.IncrementalAlterConfig(sarama.TopicResource, asked.Topic, entries, false)
	})
}

func (d *saramaDriver) createPartitions(_ context.Context, asked call) (any, error) {
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		return nil, admin.CreatePartitions(asked.Topic, int32(asked.Total), nil, false)
	})
}

// deleteRecords asks for the low watermarks apart: the call of this client does not return them.
func (d *saramaDriver) deleteRecords(_ context.Context, asked call) (any, error) {
	before := map[int32]int64{}
	for _, pair := range asked.Before {
		before[int32(pair[0])] = pair[1]
	}
	_, err := d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		return nil, admin.DeleteRecords(asked.Topic, before)
	})
	if err != nil {
		return nil, err
	}
	client, err := sarama.NewClient(d.addresses, saramaConfig())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	low := [][2]int64{}
	for partition := range before {
		offset, err := client.GetOffset(asked.Topic, partition, sarama.OffsetOldest)
		if err != nil {
			return nil, err
		}
		low = append(low, [2]int64{int64(partition), offset})
	}
	return low, nil
}

func (d *saramaDriver) deleteTopic(_ context.Context, asked call) (any, error) {
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		return nil, admin.DeleteTopic(asked.Topic)
	})
}
