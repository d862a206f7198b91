package nats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// NodeCommand is the command by which this program is one server of a cluster.
// The server's name and its folder follow it, only to tell one from another. A
// program that provisions servers that are processes, be it a test, must answer
// it with ServeNode.
const NodeCommand = "nats-node"

// maxConfig bounds what is read of a configuration, in bytes.
const maxConfig = 1 << 20

// ServeNode runs a server with the configuration that it reads until ctx ends,
// and then shuts it down in good order. A server that cannot run is an error. It
// writes its log to the file.
func ServeNode(ctx context.Context, config io.Reader, log *os.File) error {
	text, err := io.ReadAll(io.LimitReader(config, maxConfig))
	if err != nil {
		return fmt.Errorf("reading the server's configuration: %w", err)
	}
	if len(text) == 0 {
		return errors.New(
			"no configuration came: plimsoll starts such servers itself, for a target of nats " +
				"with the setting servers: processes")
	}
	s, err := newServer(string(text))
	if err != nil {
		return fmt.Errorf("making the server: %w", err)
	}
	l := newServerLog(log.Name(), log)
	s.SetLoggerV2(l, false, false, false)
	s.Start()
	select {
	case <-ctx.Done():
	case <-l.died:
	}
	s.Shutdown()
	s.WaitForShutdown()
	return l.fatal()
}
