package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// kafkaGoMember is a member of a group; a reader of each assigned partition fills unread.
type kafkaGoMember struct {
	topic   string
	commits bool
	group   *kafka.ConsumerGroup
	unread  chan kafka.Message
	stop    context.CancelFunc
	ended   chan struct{}

	mutex      sync.Mutex
	generation *kafka.Generation
	owned      []int
	next       map[int]int64
}

func (d *kafkaGo) join(_ context.Context, asked call) (any, error) {
	if asked.Strategy != "eager" {
		return nil, lacks("no members of the protocol " + asked.Strategy)
	}
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: asked.Group, Brokers: d.addresses, Topics: []string{asked.Topic},
		Dialer: kafkaGoDialer(asked.Member), StartOffset: kafka.FirstOffset,
		GroupBalancers: []kafka.GroupBalancer{kafka.RangeGroupBalancer{}},
		SessionTimeout: sessionTime, HeartbeatInterval: heartbeatTime,
		JoinGroupBackoff: freshTime, Timeout: 10 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	one := &kafkaGoMember{
		topic: asked.Topic, commits: asked.Commits, group: group, stop: stop,
		unread: make(chan kafka.Message), ended: make(chan struct{}),
	}
	d.members[asked.Member] = one
	go one.run(ctx, d)
	return nil, nil
}

func (m *kafkaGoMember) run(ctx context.Context, d *kafkaGo) {
	defer close(m.ended)
	for ctx.Err() == nil {
		generation, err := m.group.Next(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		m.begin(generation, d)
	}
}

// begin starts the readers of a generation; the last of them to end commits.
func (m *kafkaGoMember) begin(generation *kafka.Generation, d *kafkaGo) {
	m.mutex.Lock()
	m.generation, m.owned, m.next = generation, nil, map[int]int64{}
	assigned := generation.Assignments[m.topic]
	for _, one := range assigned {
		m.owned = append(m.owned, one.ID)
	}
	m.mutex.Unlock()
	generation.Start(func(ctx context.Context) {
		var readers sync.WaitGroup
		for _, one := range assigned {
			readers.Go(func() { m.fill(ctx, d, one) })
		}
		<-ctx.Done()
		readers.Wait()
		m.mutex.Lock()
		defer m.mutex.Unlock()
		if m.commits {
			if err := m.commit(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
		m.generation, m.owned = nil, nil
	})
}

func (m *kafkaGoMember) fill(ctx context.Context, d *kafkaGo, from kafka.PartitionAssignment) {
	reader := d.reader(m.topic, int32(from.ID), false)
	defer reader.Close()
	if err := reader.SetOffset(from.Offset); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for ctx.Err() == nil {
		one, err := reader.ReadMessage(ctx)
		if err != nil {
			continue
		}
		select {
		case m.unread <- one:
			m.mutex.Lock()
			m.next[from.ID] = one.Offset + 1
			m.mutex.Unlock()
		case <-ctx.Done():
		}
	}
}

// commit needs the mutex.
func (m *kafkaGoMember) commit() error {
	if m.generation == nil || len(m.next) == 0 {
		return nil
	}
	return m.generation.CommitOffsets(map[string]map[int]int64{m.topic: m.next})
}

func (m *kafkaGoMember) end() {
	m.stop()
	m.group.Close()
	<-m.ended
}

func (d *kafkaGo) poll(_ context.Context, asked call) (any, error) {
	found := [][2]any{}
	for _, name := range asked.Members {
		until := time.After(pollTime)
	one:
		for range pollRecords {
			select {
			case message := <-d.members[name].unread:
				found = append(found, [2]any{name, kafkaGoRead(message)})
			case <-until:
				break one
			}
		}
	}
	return found, nil
}

func (d *kafkaGo) assignment(_ context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	one.mutex.Lock()
	defer one.mutex.Unlock()
	return append([]int{}, one.owned...), nil
}

func (d *kafkaGo) commit(_ context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	one.mutex.Lock()
	defer one.mutex.Unlock()
	return nil, one.commit()
}

func (d *kafkaGo) leave(_ context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	delete(d.members, asked.Member)
	one.end()
	return nil, nil
}

func (d *kafkaGo) listGroups(ctx context.Context, _ call) (any, error) {
	found, err := d.client.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, one := range found.Groups {
		names = append(names, one.GroupID)
	}
	return names, found.Error
}

func (d *kafkaGo) describeGroup(ctx context.Context, asked call) (any, error) {
	asks := &kafka.DescribeGroupsRequest{GroupIDs: []string{asked.Group}}
	answer, err := d.client.DescribeGroups(ctx, asks)
	if err != nil {
		return nil, err
	}
	found := answer.Groups[0]
	members := [][2]any{}
	for _, one := range found.Members {
		partitions := []int{}
		for _, topic := range one.MemberAssignments.Topics {
			partitions = append(partitions, topic.Partitions...)
		}
		members = append(members, [2]any{one.ClientID, partitions})
	}
	return map[string]any{"state": found.GroupState, "members": members}, found.Error
}

func (d *kafkaGo) groupOffsets(ctx context.Context, asked call) (any, error) {
	answer, err := d.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: asked.Group})
	if err != nil {
		return nil, err
	}
	offsets := [][3]any{}
	for topic, partitions := range answer.Topics {
		for _, one := range partitions {
			offsets = append(offsets, [3]any{topic, one.Partition, one.CommittedOffset})
		}
	}
	return offsets, answer.Error
}

func (d *kafkaGo) deleteGroup(ctx context.Context, asked call) (any, error) {
	asks := &kafka.DeleteGroupsRequest{GroupIDs: []string{asked.Group}}
	answer, err := d.client.DeleteGroups(ctx, asks)
	if err != nil {
		return nil, err
	}
	return nil, answer.Errors[asked.Group]
}
