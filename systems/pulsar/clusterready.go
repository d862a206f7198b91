package pulsar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/internal/process"
)

const (
	readyPoll = 100 * time.Millisecond
	// askLimit bounds one look at a server; a broker's health check sends a
	// message and reads it again.
	askLimit  = 10 * time.Second
	maxAnswer = 64 << 20 // of a server's answer over HTTP, in bytes
)

// await waits until every one of the servers is ready, and fails as soon as
// any server of the cluster has ended.
func (c *provisionedCluster) await(ctx context.Context, these []*server, ready func(context.Context, *server) error) error {
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for next := 0; next < len(these); {
		if err := c.ended(); err != nil {
			return err
		}
		err := ready(ctx, these[next])
		if err == nil {
			next++
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready (%w; its log: %s): %w", these[next].name, err, maven.LastComplaint(these[next].log), ctx.Err())
		case <-ticker.C:
		}
	}
	return nil
}

// isZooKeeperReady asks ZooKeeper whether it is well, in its own short words.
func isZooKeeperReady(ctx context.Context, n *server) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", n.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := conn.Write([]byte("ruok")); err != nil {
		return err
	}
	said, err := io.ReadAll(io.LimitReader(conn, 100))
	if err != nil {
		return err
	}
	if string(said) != "imok" {
		return fmt.Errorf("it says %q", said)
	}
	return nil
}

func isBookieReady(ctx context.Context, n *server) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(n.host, strconv.Itoa(bookieHTTPPort))+"/heartbeat", nil)
	if err != nil {
		return err
	}
	response, err := bookieHTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// awaitHealthy waits until every broker has sent a message to itself and read
// it.
func (c *provisionedCluster) awaitHealthy(ctx context.Context) error {
	return c.await(ctx, c.brokers, func(ctx context.Context, n *server) error {
		port := webPort
		if c.authority != nil {
			port = webTLSPort
		}
		a := newAdmin([]string{net.JoinHostPort(n.host, strconv.Itoa(port))}, c.TLS(), c.credentials.Password)
		defer a.close()
		ctx, cancel := context.WithTimeout(ctx, askLimit)
		defer cancel()
		return a.get(ctx, "/admin/v2/brokers/health", nil)
	})
}

// ended is why a server is not there any more.
func (c *provisionedCluster) ended() error {
	for _, n := range c.all() {
		if n.process == nil {
			continue
		}
		select {
		case <-n.process.Exited():
		default:
			continue
		}
		said := maven.LastComplaint(n.log)
		if bytes.Contains(process.Tail(n.log), []byte("Address already in use")) {
			return fmt.Errorf("server %s: %w: %s", n.name, errAddressTaken, said)
		}
		if err := n.process.Err(); err != nil {
			return fmt.Errorf("server %s ended while it was started: %s: %w", n.name, said, err)
		}
		return fmt.Errorf("server %s ended while it was started: %s", n.name, said)
	}
	return nil
}
