package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	pollTime      = 200 * time.Millisecond
	pollRecords   = 5
	sessionTime   = 30 * time.Second
	heartbeatTime = 300 * time.Millisecond
)

var balancers = map[string]kgo.GroupBalancer{
	"eager":       kgo.RangeBalancer(),
	"cooperative": kgo.CooperativeStickyBalancer(),
}

// member knows what it is assigned from what it is told, in other goroutines.
type member struct {
	client *kgo.Client
	mutex  sync.Mutex
	owned  map[int32]bool
}

func (m *member) change(partitions map[string][]int32, owned bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, numbers := range partitions {
		for _, one := range numbers {
			if owned {
				m.owned[one] = true
			} else {
				delete(m.owned, one)
			}
		}
	}
}

func (d *driver) join(_ context.Context, asked call) (any, error) {
	one := &member{owned: map[int32]bool{}}
	client, err := kgo.NewClient(
		d.bootstrap,
		kgo.ClientID(asked.Member),
		kgo.ConsumerGroup(asked.Group),
		kgo.ConsumeTopics(asked.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(balancers[asked.Strategy]),
		kgo.SessionTimeout(sessionTime),
		kgo.HeartbeatInterval(heartbeatTime),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, given map[string][]int32) {
			one.change(given, true)
		}),
		kgo.OnPartitionsRevoked(func(ctx context.Context, c *kgo.Client, taken map[string][]int32) {
			if asked.Commits {
				if err := c.CommitUncommittedOffsets(ctx); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
			one.change(taken, false)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
			one.change(lost, false)
		}),
	)
	one.client = client
	d.members[asked.Member] = one
	return nil, err
}

func (d *driver) poll(ctx context.Context, asked call) (any, error) {
	found := [][2]any{}
	for _, name := range asked.Members {
		client := d.members[name].client
		soon, cancel := context.WithTimeout(ctx, pollTime)
		fetches := client.PollRecords(soon, pollRecords)
		cancel()
		if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		fetches.EachRecord(func(one *kgo.Record) { found = append(found, [2]any{name, asRead(one)}) })
		client.AllowRebalance()
	}
	return found, nil
}

func (d *driver) assignment(_ context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	one.mutex.Lock()
	defer one.mutex.Unlock()
	found := []int32{}
	for partition := range one.owned {
		found = append(found, partition)
	}
	return found, nil
}

func (d *driver) commit(ctx context.Context, asked call) (any, error) {
	return nil, d.members[asked.Member].client.CommitUncommittedOffsets(ctx)
}

func (d *driver) leave(ctx context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	delete(d.members, asked.Member)
	defer one.client.CloseAllowingRebalance()
	return nil, one.client.LeaveGroupContext(ctx)
}

func (d *driver) listGroups(ctx context.Context, _ call) (any, error) {
	found, err := d.admin.ListGroups(ctx)
	return found.Groups(), err
}

func (d *driver) describeGroup(ctx context.Context, asked call) (any, error) {
	all, err := d.admin.DescribeGroups(ctx, asked.Group)
	if err == nil {
		err = all.Error()
	}
	if err != nil {
		return nil, err
	}
	found := all[asked.Group]
	members := [][2]any{}
	for _, one := range found.Members {
		partitions := []int32{}
		if assigned, is := one.Assigned.AsConsumer(); is {
			for _, topic := range assigned.Topics {
				partitions = append(partitions, topic.Partitions...)
			}
		}
		members = append(members, [2]any{one.ClientID, partitions})
	}
	return map[string]any{"state": found.State, "members": members}, nil
}

func (d *driver) groupOffsets(ctx context.Context, asked call) (any, error) {
	found, err := d.admin.FetchOffsets(ctx, asked.Group)
	if err == nil {
		err = found.Error()
	}
	offsets := [][3]any{}
	for _, one := range found.Sorted() {
		offsets = append(offsets, [3]any{one.Topic, one.Partition, one.At})
	}
	return offsets, err
}

func (d *driver) deleteGroup(ctx context.Context, asked call) (any, error) {
	_, err := d.admin.DeleteGroup(ctx, asked.Group)
	return nil, err
}
