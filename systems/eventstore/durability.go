package eventstore

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// noFlush is the server option that decides whether nodes flush their logs.
const noFlush = "UnsafeDisableFlushToDisk"

func levels() map[workload.Level]system.Guarantee {
	const stated = "; stated by the vendor's source, " + untried
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {Refusal: "a follower confirms what it has written, and its flush may " +
			"come later (min-flush-delay-ms); only the leader flushes before it answers: ask for " +
			"durability level 2"},
		workload.SyncAsync: {How: "a cluster: written by a majority of the nodes, and flushed by " +
			"the leader unless unsafe-disable-flush-to-disk" + stated},
		workload.AsyncSync:  {How: "one node, which flushes before it answers" + stated},
		workload.AsyncAsync: {How: "one node with unsafe-disable-flush-to-disk" + stated},
	}
}

// ReadDurability reads the nodes by gossip, and asks each node whether it flushes, if the user
// may.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (
	system.Evidence, error,
) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	for _, t := range topics {
		if _, err := c.streams(ctx, t); err != nil {
			return system.Evidence{}, err
		}
	}
	all, err := c.nodes(ctx)
	if err != nil {
		return system.Evidence{}, err
	}
	r := &driver.Reading{Level: c.level}
	if err := checkNodes(r, all); err != nil {
		return system.Evidence{}, err
	}
	for _, n := range all {
		if n.alive && n.votes() {
			if err := c.checkFlush(ctx, r, n.address); err != nil {
				return system.Evidence{}, err
			}
		}
	}
	const stated = "stated by the vendor's source, not read"
	r.Add("leader", "answers an append", "after its own flush, if it flushes, and the write of a "+
		"majority", stated)
	r.Add("plimsoll", "driver", untried, "stated")
	return r.Evidence(), nil
}

// checkNodes compares the number of nodes with the level.
func checkNodes(r *driver.Reading, all []node) error {
	voters := 0
	for _, n := range all {
		state := n.state.String()
		if !n.alive {
			state += ", not alive"
		}
		r.Add(n.address, "state", state, "gossip")
		if n.votes() {
			voters++
		}
	}
	r.Add("cluster", "nodes that vote", strconv.Itoa(voters), "gossip")
	r.Copies(voters)
	switch {
	case r.Level.Majority() && voters < 3:
		return r.Contradicts("a majority of three nodes or more", "gossip knows %d", voters)
	case !r.Level.Majority() && voters > 1:
		return r.Contradicts("one node", "gossip knows %d, which all replicate", voters)
	}
	return nil
}

// option is a line of /info/options.
type option struct{ Name, Value string }

// checkFlush reads whether a node flushes, and compares it with the level of a single node.
func (c *cluster) checkFlush(ctx context.Context, r *driver.Reading, address string) error {
	value, unread := c.readOption(ctx, address, noFlush)
	if unread != nil {
		r.State(address, noFlush, assumed(r.Level), "stated, not read: "+unread.Error())
		return nil //nolint:nilerr // the level is stated then
	}
	r.Add(address, noFlush, value, "GET /info/options")
	unsafe := strings.EqualFold(value, "true")
	switch {
	case r.Level == workload.AsyncSync && unsafe:
		return r.Contradicts(noFlush+" false", "%s has it true", address)
	case r.Level == workload.AsyncAsync && !unsafe:
		return r.Contradicts(noFlush+" true", "%s has it false, which is level 3", address)
	}
	return nil
}

// assumed returns the value of the option that is assumed of a node that does not show it.
func assumed(l workload.Level) string {
	switch l {
	case workload.AsyncSync:
		return "false, as the level asks and the default is"
	case workload.AsyncAsync:
		return "true, as the level asks"
	}
	return "not known; a majority's write is the same with either"
}

// readOption reads one option of one node over HTTP.
func (c *cluster) readOption(ctx context.Context, address, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	scheme := "http"
	if c.options.TLS != nil {
		scheme = "https"
	}
	api := driver.API{
		Bases:  []string{scheme + "://" + address},
		Client: driver.NewHTTPClient(c.options.TLS, askWithin),
		Authorise: func(r *http.Request) {
			if l := basic(c.administrator()); l != "" && c.options.TLS != nil {
				r.Header.Set("Authorization", string(l))
			}
		},
	}
	var all []option
	if err := api.Do(ctx, http.MethodGet, "/info/options", nil, &all); err != nil {
		if driver.HasStatus(err, http.StatusUnauthorized) ||
			driver.HasStatus(err, http.StatusForbidden) {
			err = fmt.Errorf("it needs a user of the group $admins (admin_user): %w", err)
		}
		return "", err
	}
	for _, o := range all {
		if strings.EqualFold(o.Name, name) {
			return o.Value, nil
		}
	}
	return "", fmt.Errorf("the node does not list it")
}
