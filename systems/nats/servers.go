package nats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// errNotSystemAccount means that no server answers this user.
var errNotSystemAccount = errors.New("no server answers the admin user: " + adminToGive)

// serverReport holds the used part of a server's answer to VARZ.
type serverReport struct {
	Name      string   `json:"server_name"`
	Version   string   `json:"version"`
	Tags      []string `json:"tags"`
	JetStream struct {
		Config *struct {
			SyncInterval time.Duration `json:"sync_interval"`
			SyncAlways   bool          `json:"sync_always"`
		} `json:"config"`
		Meta *struct {
			Size int `json:"cluster_size"`
		} `json:"meta"`
	} `json:"jetstream"`
}

// sync returns the server's sync_interval in the spelling of its configuration.
func (s serverReport) sync() string {
	if s.JetStream.Config == nil {
		return unreadable
	}
	if s.JetStream.Config.SyncAlways {
		return syncAlways
	}
	return s.JetStream.Config.SyncInterval.String()
}

// askServers reads the variables of every server with JetStream, sorted by name. It returns when
// all members of the cluster have answered.
func (c *cluster) askServers(parent context.Context) ([]serverReport, error) {
	conn, err := connectTo(parent, c.admin, 0, "plimsoll admin", -1)
	if err != nil {
		return nil, fmt.Errorf("connect as the admin user: %w", err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(parent, askWithin)
	defer cancel()
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("ask the servers: %w", err)
	}
	if err := conn.PublishRequest(fromVarz, inbox, nil); err != nil {
		return nil, fmt.Errorf("ask the servers: %w", err)
	}
	var all []serverReport
	for size := 1; len(all) < size; {
		one, err := nextReport(ctx, sub)
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) && len(all) == 0 && parent.Err() == nil &&
				conn.IsConnected() {
				// A user without the right to publish the request gets no answer at all.
				return nil, errNotSystemAccount
			}
			return nil, fmt.Errorf("ask the servers: %d of %d answered: %w", len(all), size, err)
		}
		if one.JetStream.Config == nil {
			continue // a server without JetStream keeps no copies
		}
		if one.JetStream.Meta != nil {
			size = max(size, one.JetStream.Meta.Size)
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b serverReport) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

func nextReport(ctx context.Context, sub *nats.Subscription) (serverReport, error) {
	m, err := sub.NextMsgWithContext(ctx)
	if errors.Is(err, nats.ErrNoResponders) {
		return serverReport{}, errNotSystemAccount
	}
	if err != nil {
		return serverReport{}, err
	}
	var answer struct {
		Data  serverReport `json:"data"`
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return serverReport{}, fmt.Errorf("read a server's answer: %w", err)
	}
	if answer.Error != nil {
		return serverReport{}, fmt.Errorf("a server refused to answer: %s",
			answer.Error.Description)
	}
	return answer.Data, nil
}

// ServerVersions returns a line for each server. Without a system account user
// only the connected server can be asked.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	servers, err := c.askServers(ctx)
	if errors.Is(err, errNotSystemAccount) {
		if !c.conn.IsConnected() {
			return nil, errors.New("not connected")
		}
		return []string{c.conn.ConnectedServerName() + " " + c.conn.ConnectedServerVersion()}, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, s := range servers {
		lines = append(lines, s.Name+" "+s.Version)
	}
	return lines, nil
}
