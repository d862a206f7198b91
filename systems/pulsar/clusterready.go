package pulsar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	readyPoll = 100 * time.Millisecond
	// askLimit bounds one look at a server; a broker's health check sends a
	// message and reads it again.
	askLimit = 10 * time.Second
	// maxComplaint bounds what of a server's log goes into an error, tailSize
	// how much of the log is looked at, in bytes.
	maxComplaint = 300
	tailSize     = 64 << 10
	maxAnswer    = 64 << 20 // of a server's answer over HTTP, in bytes
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
			return fmt.Errorf("%s did not become ready (%w; its log: %s): %w", these[next].name, err, lastComplaint(these[next].log), ctx.Err())
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
		said := lastComplaint(n.log)
		if bytes.Contains(tail(n.log), []byte("Address already in use")) {
			return fmt.Errorf("server %s: %w: %s", n.name, errAddressTaken, said)
		}
		if err := n.process.Err(); err != nil {
			return fmt.Errorf("server %s ended while it was started: %s: %w", n.name, said, err)
		}
		return fmt.Errorf("server %s ended while it was started: %s", n.name, said)
	}
	return nil
}

// thrown is a line that names what Java threw, with or without its cause.
var thrown = regexp.MustCompile(`^(?:Caused by: )?([\w.$]+\.\w*(?:Exception|Error)\b.*)`)

// lastComplaint is the last error in a server's log with the root of what Java
// threw for it, or the last line when there is none: what Java itself says
// before a server runs has no level. An error of the main thread is why a
// server ends; what other threads say after it is how.
func lastComplaint(path string) string {
	var complaint, root, last string
	ofMain, within := false, false
	for line := range bytes.Lines(tail(path)) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		last = text
		if before, said, is := strings.Cut(text, " ERROR "); is {
			isMain := strings.HasSuffix(before, "[main]")
			if within = isMain || !ofMain; within {
				complaint, root, ofMain = said, "", isMain
			}
		} else if m := thrown.FindStringSubmatch(text); m != nil && within {
			root = m[1]
		}
	}
	switch {
	case complaint == "":
		complaint = last
	case root != "":
		complaint += ": " + root
	}
	if len(complaint) > maxComplaint {
		complaint = complaint[:maxComplaint] + "…"
	}
	return strings.ToValidUTF8(complaint, "")
}

// tail is the end of a file, whole lines only.
func tail(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-tailSize)
	b := make([]byte, info.Size()-from)
	n, _ := f.ReadAt(b, from)
	b = b[:n]
	if from > 0 {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return b
}
