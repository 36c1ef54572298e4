package main

import "context"

// call has the arguments of every call; each takes its own.
type call struct {
	Call            string            `json:"call"`
	Topic           string            `json:"topic"`
	Group           string            `json:"group"`
	Member          string            `json:"member"`
	Members         []string          `json:"members"`
	Strategy        string            `json:"strategy"`
	Commits         bool              `json:"commits"`
	Committed       bool              `json:"committed"`
	Idempotent      *bool             `json:"idempotent"`
	Partitions      int32             `json:"partitions"`
	Partition       int32             `json:"partition"`
	Offset          int64             `json:"offset"`
	TimestampMs     int64             `json:"timestamp_ms"`
	Count           int               `json:"count"`
	Total           int               `json:"total"`
	Codec           string            `json:"codec"`
	TransactionalID string            `json:"transactional_id"`
	Values          []string          `json:"values"`
	Configs         map[string]string `json:"configs"`
	Before          [][2]int64        `json:"before"`
	Times           [][2]int64        `json:"times"`
	Records         []record          `json:"records"`
}

type record struct {
	Partition   int32        `json:"partition"`
	Offset      int64        `json:"offset"`
	TimestampMs int64        `json:"timestamp_ms"`
	Key         *string      `json:"key"`
	Value       *string      `json:"value"`
	Headers     [][2]*string `json:"headers"`
}

// lacks says why a client has no such call.
type lacks string

func (l lacks) Error() string { return string(l) }

// driver makes the calls with a client.
type driver interface {
	close()
	createTopic(context.Context, call) (any, error)
	listTopics(context.Context, call) (any, error)
	describeTopic(context.Context, call) (any, error)
	describeConfigs(context.Context, call) (any, error)
	alterConfigs(context.Context, call) (any, error)
	createPartitions(context.Context, call) (any, error)
	deleteRecords(context.Context, call) (any, error)
	deleteTopic(context.Context, call) (any, error)
	produce(context.Context, call) (any, error)
	transact(context.Context, call) (any, error)
	read(context.Context, call) (any, error)
	offsetsForTimes(context.Context, call) (any, error)
	readFromTime(context.Context, call) (any, error)
	join(context.Context, call) (any, error)
	poll(context.Context, call) (any, error)
	assignment(context.Context, call) (any, error)
	commit(context.Context, call) (any, error)
	leave(context.Context, call) (any, error)
	listGroups(context.Context, call) (any, error)
	describeGroup(context.Context, call) (any, error)
	groupOffsets(context.Context, call) (any, error)
	deleteGroup(context.Context, call) (any, error)
}

var calls = map[string]func(driver, context.Context, call) (any, error){
	"create_topic":      driver.createTopic,
	"list_topics":       driver.listTopics,
	"describe_topic":    driver.describeTopic,
	"describe_configs":  driver.describeConfigs,
	"alter_configs":     driver.alterConfigs,
	"create_partitions": driver.createPartitions,
	"delete_records":    driver.deleteRecords,
	"delete_topic":      driver.deleteTopic,
	"produce":           driver.produce,
	"transact":          driver.transact,
	"read":              driver.read,
	"offsets_for_times": driver.offsetsForTimes,
	"read_from_time":    driver.readFromTime,
	"join":              driver.join,
	"poll":              driver.poll,
	"assignment":        driver.assignment,
	"commit":            driver.commit,
	"leave":             driver.leave,
	"list_groups":       driver.listGroups,
	"describe_group":    driver.describeGroup,
	"group_offsets":     driver.groupOffsets,
	"delete_group":      driver.deleteGroup,
}

func bytesOf(text *string) []byte {
	if text == nil {
		return nil
	}
	return []byte(*text)
}

func textOf(data []byte) *string {
	if data == nil {
		return nil
	}
	text := string(data)
	return &text
}
