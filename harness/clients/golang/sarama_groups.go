package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

var saramaStrategies = map[string]func() sarama.BalanceStrategy{
	"eager":       sarama.NewBalanceStrategyRange,
	"cooperative": sarama.NewBalanceStrategyCooperativeSticky,
}

// saramaMember is what the group calls; what it reads waits in unread until a poll takes it.
type saramaMember struct {
	topic   string
	commits bool
	group   sarama.ConsumerGroup
	unread  chan *sarama.ConsumerMessage
	stop    context.CancelFunc
	ended   chan struct{}

	mutex   sync.Mutex
	session sarama.ConsumerGroupSession
	next    map[int32]int64
}

func (m *saramaMember) Setup(session sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session, m.next = session, map[int32]int64{}
	return nil
}

func (m *saramaMember) Cleanup(sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.commits {
		m.commit()
	}
	m.session = nil
	return nil
}

func (m *saramaMember) ConsumeClaim(
	session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim,
) error {
	for {
		select {
		case one := <-claim.Messages():
			if one == nil {
				m.giveUp(claim.Partition())
				return nil
			}
			select {
			case m.unread <- one:
				m.mutex.Lock()
				m.next[one.Partition] = one.Offset + 1
				m.mutex.Unlock()
			case <-session.Context().Done():
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

// giveUp is for a cooperative rebalance, in which the session goes on.
func (m *saramaMember) giveUp(partition int32) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.commits && m.session != nil {
		m.commit()
	}
	delete(m.next, partition)
}

// commit needs the mutex.
func (m *saramaMember) commit() {
	for partition, offset := range m.next {
		m.session.MarkOffset(m.topic, partition, offset, "")
	}
	m.session.Commit()
}

func (m *saramaMember) end() {
	m.stop()
	<-m.ended
	m.group.Close()
}

func (d *saramaDriver) join(_ context.Context, asked call) (any, error) {
	config := saramaConfig()
	config.ClientID = asked.Member
	strategy, has := saramaStrategies[asked.Strategy]
	if !has {
		return nil, lacks("no members of the protocol " + asked.Strategy)
	}
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy()}
	group, err := sarama.NewConsumerGroup(d.addresses, asked.Group, config)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	one := &saramaMember{
		topic: asked.Topic, commits: asked.Commits, group: group, stop: stop,
		unread: make(chan *sarama.ConsumerMessage), ended: make(chan struct{}),
	}
	d.members[asked.Member] = one
	go func() {
		for err := range group.Errors() {
			fmt.Fprintln(os.Stderr, asked.Member, err)
		}
	}()
	go func() {
		defer close(one.ended)
		for ctx.Err() == nil {
			if err := group.Consume(ctx, []string{asked.Topic}, one); err != nil {
				fmt.Fprintln(os.Stderr, asked.Member, err)
			}
		}
	}()
	return nil, nil
}

func (d *saramaDriver) poll(_ context.Context, asked call) (any, error) {
	found := [][2]any{}
	for _, name := range asked.Members {
		until := time.After(pollTime)
	one:
		for range pollRecords {
			select {
			case message := <-d.members[name].unread:
				found = append(found, [2]any{name, saramaRead(message)})
			case <-until:
				break one
			}
		}
	}
	return found, nil
}

func (d *saramaDriver) assignment(_ context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	one.mutex.Lock()
	defer one.mutex.Unlock()
	if one.session == nil {
		return []int32{}, nil
	}
	return append([]int32{}, one.session.Claims()[one.topic]...), nil
}

func (d *saramaDriver) commit(_ context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	one.mutex.Lock()
	defer one.mutex.Unlock()
	if one.session == nil {
		return nil, fmt.Errorf("%s has no session", asked.Member)
	}
	one.commit()
	return nil, nil
}

func (d *saramaDriver) leave(_ context.Context, asked call) (any, error) {
	one := d.members[asked.Member]
	delete(d.members, asked.Member)
	one.end()
	return nil, nil
}

func (d *saramaDriver) listGroups(_ context.Context, _ call) (any, error) {
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		found, err := admin.ListConsumerGroups()
		names := []string{}
		for name := range found {
			names = append(names, name)
		}
		return names, err
	})
}

func (d *saramaDriver) describeGroup(_ context.Context, asked call) (any, error) {
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		found, err := admin.DescribeConsumerGroups([]string{asked.Group})
		if err != nil {
			return nil, err
		}
		members := [][2]any{}
		for _, one := range found[0].Members {
			partitions := []int32{}
			assigned, err := one.GetMemberAssignment()
			if err != nil {
				return nil, err
			}
			if assigned != nil {
				for _, each := range assigned.Topics {
					partitions = append(partitions, each...)
				}
			}
			members = append(members, [2]any{one.ClientId, partitions})
		}
		return map[string]any{"state": found[0].State, "members": members}, nil
	})
}

func (d *saramaDriver) groupOffsets(_ context.Context, asked call) (any, error) {
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		found, err := admin.ListConsumerGroupOffsets(asked.Group, nil)
		if err != nil {
			return nil, err
		}
		offsets := [][3]any{}
		for topic, partitions := range found.Blocks {
			for partition, one := range partitions {
				offsets = append(offsets, [3]any{topic, partition, one.Offset})
			}
		}
		return offsets, nil
	})
}

func (d *saramaDriver) deleteGroup(_ context.Context, asked call) (any, error) {
	return d.administer(func(admin sarama.ClusterAdmin) (any, error) {
		return nil, admin.DeleteConsumerGroup(asked.Group)
	})
}
