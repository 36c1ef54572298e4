package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"
)

func (d *franz) createTopic(ctx context.Context, asked call) (any, error) {
	configs := map[string]*string{}
	for name, value := range asked.Configs {
		configs[name] = kadm.StringPtr(value)
	}
	_, err := d.admin.CreateTopic(ctx, asked.Partitions, 1, configs, asked.Topic)
	return nil, err
}

func (d *franz) listTopics(ctx context.Context, _ call) (any, error) {
	found, err := d.admin.ListTopics(ctx)
	return found.Names(), err
}

func (d *franz) describeTopic(ctx context.Context, asked call) (any, error) {
	found, err := d.admin.ListTopics(ctx, asked.Topic)
	if err == nil {
		err = found.Error()
	}
	if err != nil {
		return nil, err
	}
	partitions := []map[string]any{}
	for _, one := range found[asked.Topic].Partitions.Sorted() {
		partitions = append(partitions, map[string]any{
			"partition": one.Partition, "leader": one.Leader, "replicas": one.Replicas, "isr": one.ISR,
		})
	}
	return partitions, nil
}

func (d *franz) describeConfigs(ctx context.Context, asked call) (any, error) {
	all, err := d.admin.DescribeTopicConfigs(ctx, asked.Topic)
	if err != nil {
		return nil, err
	}
	one, err := all.On(asked.Topic, nil)
	if err == nil {
		err = one.Err
	}
	found := map[string]*string{}
	for _, config := range one.Configs {
		found[config.Key] = config.Value
	}
	return found, err
}

func (d *franz) alterConfigs(ctx context.Context, asked call) (any, error) {
	var configs []kadm.AlterConfig
	for name, value := range asked.Configs {
		configs = append(configs, kadm.AlterConfig{Name: name, Value: kadm.StringPtr(value)})
	}
	all, err := d.admin.AlterTopicConfigs(ctx, configs, asked.Topic)
	if err != nil {
		return nil, err
	}
	one, err := all.On(asked.Topic, nil)
	if err == nil {
		err = one.Err
	}
	return nil, err
}

func (d *franz) createPartitions(ctx context.Context, asked call) (any, error) {
	found, err := d.admin.UpdatePartitions(ctx, asked.Total, asked.Topic)
	if err == nil {
		err = found.Error()
	}
	return nil, err
}

func (d *franz) deleteRecords(ctx context.Context, asked call) (any, error) {
	before := kadm.Offsets{}
	for _, pair := range asked.Before {
		before.AddOffset(asked.Topic, int32(pair[0]), pair[1], -1)
	}
	found, err := d.admin.DeleteRecords(ctx, before)
	if err == nil {
		err = found.Error()
	}
	low := [][2]int64{}
	for _, one := range found.Sorted() {
		low = append(low, [2]int64{int64(one.Partition), one.LowWatermark})
	}
	return low, err
}

func (d *franz) deleteTopic(ctx context.Context, asked call) (any, error) {
	_, err := d.admin.DeleteTopic(ctx, asked.Topic)
	return nil, err
}
