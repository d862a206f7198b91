package rabbitmq

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/process"
)

const readyPoll = 100 * time.Millisecond

// awaitReady waits until every server says that all servers run and are not
// cut off from each other, and takes clients.
func (c *provisionedCluster) awaitReady(ctx context.Context) error {
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		if err := c.ended(); err != nil {
			return err
		}
		err := c.ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the servers did not become a cluster (%w)%s: %w", err, c.complaints(), ctx.Err())
		case <-ticker.C:
		}
	}
}

// ask asks every server whom it knows, and for a connection.
func (c *provisionedCluster) ask(ctx context.Context) error {
	for i, n := range c.servers {
		m := managementAt([]string{n.management}, c.credentials.User, c.credentials.Password, c.TLS())
		var nodes []nodeReport
		if err := m.callAt(ctx, n.management, http.MethodGet, "/api/nodes", nil, &nodes); err != nil {
			return fmt.Errorf("%s does not answer: %w", n.name, err)
		}
		running := 0
		for _, one := range nodes {
			if one.Running && len(one.Partitions) == 0 {
				running++
			}
		}
		if running != len(c.servers) {
			return fmt.Errorf("%s knows %d of %d servers", n.name, running, len(c.servers))
		}
		conn, err := dialer{endpoints: c.Endpoints(), credentials: c.credentials, tls: c.TLS(), vhost: "/"}.dial(ctx, i, "plimsoll start", nil)
		if err != nil {
			return fmt.Errorf("%s takes no clients: %w", n.name, err)
		}
		if err := hangUp(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

// ended is why a server is not there any more.
func (c *provisionedCluster) ended() error {
	select {
	case <-c.names.Exited():
		return c.explainEnd("epmd, which tells the servers' names,", c.namesLog, c.names.Err())
	default:
	}
	for _, n := range c.servers {
		select {
		case <-n.process.Exited():
			return c.explainEnd("server "+n.name, n.log, n.process.Err())
		default:
		}
	}
	return nil
}

func (c *provisionedCluster) explainEnd(who, log string, err error) error {
	said := lastComplaint(log)
	end := process.Tail(log)
	for _, taken := range []string{"eaddrinuse", "ddress already in use", "is in use by another node", "could not bind to distribution port"} {
		if bytes.Contains(end, []byte(taken)) {
			return fmt.Errorf("%s: %w: %s", who, errAddressTaken, said)
		}
	}
	if err == nil {
		err = errors.New("exit code 0")
	}
	return fmt.Errorf("%s ended while it was started (%w): %s", who, err, said)
}

// complaints is what the servers' logs complain of last, each in brackets: the
// logs may be gone when somebody looks for them.
func (c *provisionedCluster) complaints() string {
	var b strings.Builder
	for _, n := range c.servers {
		if said := lastComplaint(n.log); said != "" {
			fmt.Fprintf(&b, " (%s: %s)", n.name, said)
		}
	}
	return b.String()
}

// lastComplaint is why a server's log says that it did not start, or the last
// error in it, or the last line: the script and Erlang themselves write without
// a level.
func lastComplaint(path string) string {
	var why, complaint, last string
	for line := range bytes.Lines(process.Tail(path)) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		last = text
		if _, said, is := strings.Cut(text, "ERROR: "); is {
			why = said
		} else if _, said, is := strings.Cut(text, " [error] "); is && worthSaying(said) {
			complaint = said
		}
	}
	return process.Said(cmp.Or(why, complaint, last))
}

// worthSaying says whether a log line is the beginning of an error and not the
// middle of a report that Erlang makes of it.
func worthSaying(said string) bool {
	_, text, is := strings.Cut(said, "> ")
	return is && !strings.HasPrefix(text, " ") && strings.Trim(text, "=-") != ""
}
