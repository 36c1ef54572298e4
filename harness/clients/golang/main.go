// Clients for Go: `clients NAME HOST:PORT` makes the calls of docs/clients.md, a line of JSON a call.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

const (
	requestTime   = 30 * time.Second
	freshTime     = 250 * time.Millisecond
	lingerTime    = 100 * time.Millisecond
	pollTime      = 200 * time.Millisecond
	pollRecords   = 5
	sessionTime   = 30 * time.Second
	heartbeatTime = 300 * time.Millisecond
	retryTime     = 50 * time.Millisecond
	longestLine   = 16 << 20
)

// client is a library of Go modules: its driver is made for bootstrap addresses.
type client struct {
	module string
	make   func([]string) (driver, error)
}

var clients = map[string]client{
	"franz-go": {"github.com/twmb/franz-go", newFranz},
	"sarama":   {"github.com/IBM/sarama", newSarama},
	"kafka-go": {"github.com/segmentio/kafka-go", newKafkaGo},
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: clients NAME HOST:PORT[,HOST:PORT] | --version NAME")
		os.Exit(2)
	}
	if os.Args[1] == "--version" {
		fmt.Println(release(clients[os.Args[2]].module))
		return
	}
	made, err := clients[os.Args[1]].make(strings.Split(os.Args[2], ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer made.close()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		said, err := json.Marshal(answer(made, lines.Bytes()))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(said))
	}
}

// release is what was built in.
func release(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, one := range info.Deps {
		if one.Path == module {
			return one.Version
		}
	}
	return "unknown"
}

func answer(d driver, line []byte) map[string]any {
	var asked call
	if err := json.Unmarshal(line, &asked); err != nil {
		return map[string]any{"error": err.Error()}
	}
	do, known := calls[asked.Call]
	if !known {
		return map[string]any{"lacks": "no call " + asked.Call}
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	found, err := do(d, ctx, asked)
	var missing lacks
	if errors.As(err, &missing) {
		return map[string]any{"lacks": missing.Error()}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, asked.Call, err)
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"answer": found}
}
