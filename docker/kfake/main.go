// The fake cluster of franz-go as a process: it says where it listens, and stays.
//
//	kfake [--nodes N] [--set NAME=VALUE ...] [--version]
//
// Without --set a topic has one partition and comes into being when Metadata asks for it.
// Settings carry Kafka's names. num.partitions and auto.create.topics.enable are options of the
// cluster, those in handedOver settings of its brokers. It would take any other without a word and
// not use it, so that one is refused here.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

const module = "github.com/twmb/franz-go/pkg/kfake"

var handedOver = []string{
	"compression.type",
	"default.replication.factor",
	"group.consumer.heartbeat.interval.ms",
	"group.consumer.session.timeout.ms",
	"group.max.session.timeout.ms",
	"group.max.size",
	"group.min.session.timeout.ms",
	"group.share.delivery.count.limit",
	"group.share.heartbeat.interval.ms",
	"group.share.record.lock.duration.ms",
	"group.share.session.timeout.ms",
	"log.message.timestamp.type",
	"log.retention.bytes",
	"log.retention.ms",
	"log.roll.ms",
	"log.segment.bytes",
	"max.incremental.fetch.session.cache.slots",
	"message.max.bytes",
	"min.insync.replicas",
	"offsets.retention.check.interval.ms",
	"offsets.retention.minutes",
	"transaction.max.timeout.ms",
	"transactional.id.expiration.ms",
}

type settings map[string]string

func (s settings) String() string { return "" }

func (s settings) Set(word string) error {
	name, value, found := strings.Cut(word, "=")
	if !found || name == "" {
		return fmt.Errorf("want NAME=VALUE")
	}
	s[name] = value
	return nil
}

// take removes a setting and returns it.
func (s settings) take(name string) string {
	value := s[name]
	delete(s, name)
	return value
}

func main() {
	given := settings{"num.partitions": "1", "auto.create.topics.enable": "true"}
	nodes := flag.Int("nodes", 1, "how many brokers")
	version := flag.Bool("version", false, "print the version of kfake")
	flag.Var(given, "set", "a broker setting as NAME=VALUE; may be repeated")
	flag.Parse()
	if flag.NArg() > 0 {
		fail(fmt.Errorf("unknown argument %q", flag.Arg(0)))
	}
	if *version {
		fmt.Println(release())
		return
	}
	options, err := given.options()
	if err != nil {
		fail(err)
	}
	options = append(options, kfake.NumBrokers(*nodes))
	options = append(options, kfake.WithLogger(kfake.BasicLogger(os.Stderr, kfake.LogLevelWarn)))
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		fail(err)
	}
	for _, address := range cluster.ListenAddrs() {
		fmt.Println("listening on", address)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
	cluster.Close()
}

func (s settings) options() ([]kfake.Opt, error) {
	partitions, err := strconv.Atoi(s.take("num.partitions"))
	if err != nil || partitions < 1 {
		return nil, fmt.Errorf("num.partitions must be a number from 1 on")
	}
	options := []kfake.Opt{kfake.DefaultNumPartitions(partitions)}
	creates, err := strconv.ParseBool(s.take("auto.create.topics.enable"))
	if err != nil {
		return nil, fmt.Errorf("auto.create.topics.enable must be true or false")
	}
	if creates {
		options = append(options, kfake.AllowAutoTopicCreation())
	}
	for name := range s {
		if !slices.Contains(handedOver, name) {
			return nil, fmt.Errorf("there is no setting %s here; known: num.partitions, "+
				"auto.create.topics.enable, %s", name, strings.Join(handedOver, ", "))
		}
	}
	return append(options, kfake.BrokerConfigs(s)), nil
}

// release is the version of kfake that this program was built with.
func release() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, each := range info.Deps {
			if each.Path == module {
				return each.Version
			}
		}
	}
	fail(fmt.Errorf("this program does not know what it was built from"))
	return ""
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "kfake:", err)
	os.Exit(2)
}
