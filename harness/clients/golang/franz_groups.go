package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

var franzBalancers = map[string]kgo.GroupBalancer{
	"eager":       kgo.RangeBalancer(),
	"cooperative": kgo.CooperativeStickyBalancer(),
}

type franz struct {
	bootstrap kgo.Opt
	client    *kgo.Client
	admin     *kadm.Client
	members   map[string]*franzMember
}

func newFranz(addresses []string) (driver, error) {
	bootstrap := kgo.SeedBrokers(addresses...)
	client, err := kgo.NewClient(bootstrap, kgo.MetadataMinAge(freshTime))
	if err != nil {
		return nil, err
	}
	return &franz{bootstrap, client, kadm.NewClient(client), map[string]*franzMember{}}, nil
}

func (d *franz) close() {
	for _, one := range d.members {
		one.client.CloseAllowingRebalance()
	}
	d.client.Close()
}

// franzMember gets its assignment by callbacks, in other goroutines.
type franzMember struct {
	client *kgo.Client
	mutex  sync.Mutex
	owned  map[int32]bool
}

func (m *franzMember) change(partitions map[string][]int32, owned bool) {
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

func (d *franz) join(_ context.Context, asked call) (any, error) {
	balancer, has := franzBalancers[asked.Strategy]
	if !has {
		return nil, lacks("no members of the protocol " + asked.Strategy)
	}
	one := &franzMember{owned: map[int32]bool{}}
	client, err := kgo.NewClient(
		d.bootstrap,
		kgo.ClientID(asked.Member),
		kgo.ConsumerGroup(asked.Group),
		kgo.ConsumeTopics(asked.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(balancer),
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

func (d *franz) poll(ctx context.Context, asked call) (any, error) {
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

func (d *franz) assignment(_ context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	one.mutex.Lock()
	defer one.mutex.Unlock()
	found := []int32{}
	for partition := range one.owned {
		found = append(found, partition)
	}
	return found, nil
}

func (d *franz) commit(ctx context.Context, asked call) (any, error) {
	return nil, d.members[asked.Member].client.CommitUncommittedOffsets(ctx)
}

func (d *franz) leave(ctx context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	delete(d.members, asked.Member)
	defer one.client.CloseAllowingRebalance()
	return nil, one.client.LeaveGroupContext(ctx)
}

func (d *franz) listGroups(ctx context.Context, _ call) (any, error) {
	found, err := d.admin.ListGroups(ctx)
	return found.Groups(), err
}

func (d *franz) describeGroup(ctx context.Context, asked call) (any, error) {
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

func (d *franz) groupOffsets(ctx context.Context, asked call) (any, error) {
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

func (d *franz) deleteGroup(ctx context.Context, asked call) (any, error) {
	_, err := d.admin.DeleteGroup(ctx, asked.Group)
	return nil, err
}
