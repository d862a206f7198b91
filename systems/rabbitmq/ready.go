package rabbitmq

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// ask asks every server whether all run and none is cut off from the others, and
// for a connection.
func ask(ctx context.Context, c *driver.Cluster) error {
	members := c.Members()
	for i, n := range members {
		m := newManagement(system.Options{
			Endpoints: []string{n.Address}, Credentials: c.Credentials(), TLS: c.TLS(),
		}, auto)
		var nodes []nodeReport
		if err := m.api.Do(ctx, http.MethodGet, "/api/nodes", nil, &nodes); err != nil {
			return fmt.Errorf("%s does not answer: %w", n.Name, err)
		}
		running := 0
		for _, one := range nodes {
			if one.Running && len(one.Partitions) == 0 {
				running++
			}
		}
		if running != len(members) {
			return fmt.Errorf("%s knows %d of %d servers", n.Name, running, len(members))
		}
		at := dialer{
			endpoints: c.Endpoints(), credentials: c.Credentials(), tls: c.TLS(), vhost: "/",
		}
		conn, err := at.dial(ctx, i, "plimsoll start", nil)
		if err != nil {
			return fmt.Errorf("%s takes no clients: %w", n.Name, err)
		}
		if err := hangUp(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

// lastComplaint is why a server's log says that it did not start, or the last
// error in it, or the last line: the script and Erlang themselves write without
// a level.
func lastComplaint(path string) string {
	var why, complaint, last string
	for text := range process.TailLines(path) {
		last = text
		if _, said, is := strings.Cut(text, "ERROR: "); is {
			why = said
		} else if _, said, is := strings.Cut(text, " [error] "); is && worthSaying(said) {
			complaint = said
		}
	}
	return process.Said(cmp.Or(why, complaint, last))
}

// worthSaying reports whether a log line is the beginning of an error and not the
// middle of a report that Erlang makes of it.
func worthSaying(said string) bool {
	_, text, is := strings.Cut(said, "> ")
	return is && !strings.HasPrefix(text, " ") && strings.Trim(text, "=-") != ""
}
