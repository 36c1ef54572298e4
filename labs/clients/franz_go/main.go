// A client for the tests of the folder above: franz-go does what it is told, a JSON line a call.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	requestTime = 30 * time.Second
	freshTime   = 250 * time.Millisecond
	longestLine = 1 << 20
	module      = "github.com/twmb/franz-go"
)

// call has the arguments of every call; each takes its own.
type call struct {
	Call        string            `json:"call"`
	Topic       string            `json:"topic"`
	Group       string            `json:"group"`
	Member      string            `json:"member"`
	Members     []string          `json:"members"`
	Strategy    string            `json:"strategy"`
	Commits     bool              `json:"commits"`
	Partitions  int32             `json:"partitions"`
	Partition   int32             `json:"partition"`
	Offset      int64             `json:"offset"`
	TimestampMs int64             `json:"timestamp_ms"`
	Count       int               `json:"count"`
	Total       int               `json:"total"`
	Codec       string            `json:"codec"`
	Configs     map[string]string `json:"configs"`
	Before      [][2]int64        `json:"before"`
	Times       [][2]int64        `json:"times"`
	Records     []record          `json:"records"`
}

type record struct {
	Partition   int32        `json:"partition"`
	Offset      int64        `json:"offset"`
	TimestampMs int64        `json:"timestamp_ms"`
	Key         *string      `json:"key"`
	Value       *string      `json:"value"`
	Headers     [][2]*string `json:"headers"`
}

type driver struct {
	bootstrap kgo.Opt
	client    *kgo.Client
	admin     *kadm.Client
	members   map[string]*member
}

type answerer func(*driver, context.Context, call) (any, error)

var calls = map[string]answerer{
	"create_topic":      (*driver).createTopic,
	"list_topics":       (*driver).listTopics,
	"describe_topic":    (*driver).describeTopic,
	"describe_configs":  (*driver).describeConfigs,
	"alter_configs":     (*driver).alterConfigs,
	"create_partitions": (*driver).createPartitions,
	"delete_records":    (*driver).deleteRecords,
	"delete_topic":      (*driver).deleteTopic,
	"produce":           (*driver).produce,
	"read":              (*driver).read,
	"offsets_for_times": (*driver).offsetsForTimes,
	"read_from_time":    (*driver).readFromTime,
	"join":              (*driver).join,
	"poll":              (*driver).poll,
	"assignment":        (*driver).assignment,
	"commit":            (*driver).commit,
	"leave":             (*driver).leave,
	"list_groups":       (*driver).listGroups,
	"describe_group":    (*driver).describeGroup,
	"group_offsets":     (*driver).groupOffsets,
	"delete_group":      (*driver).deleteGroup,
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(release())
		return
	}
	bootstrap := kgo.SeedBrokers(os.Args[1])
	client, err := kgo.NewClient(bootstrap, kgo.MetadataMinAge(freshTime))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	d := &driver{bootstrap, client, kadm.NewClient(client), map[string]*member{}}
	defer d.close()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		said, err := json.Marshal(d.answer(lines.Bytes()))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(said))
	}
}

// release is what was built in.
func release() string {
	info, _ := debug.ReadBuildInfo()
	for _, one := range info.Deps {
		if one.Path == module {
			return one.Version
		}
	}
	return "unknown"
}

func (d *driver) answer(line []byte) map[string]any {
	var asked call
	if err := json.Unmarshal(line, &asked); err != nil {
		return map[string]any{"error": err.Error()}
	}
	do, known := calls[asked.Call]
	if !known {
		return map[string]any{"error": "no such call: " + asked.Call}
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	found, err := do(d, ctx, asked)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"answer": found}
}

func (d *driver) close() {
	for _, one := range d.members {
		one.client.CloseAllowingRebalance()
	}
	d.client.Close()
}
