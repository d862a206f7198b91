package driver

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/plimsoll-bench/plimsoll/system/process"
)

// Self returns the process of a node that is this program itself, run by a command of
// system.NodeServer.
func Self(n *Node, command string, config []byte) process.Spec {
	path, _ := os.Executable() // without a path the start fails
	return process.Spec{Path: path, Args: []string{command, n.Name, n.Dir}, Input: config}
}

// NodeConfig reads the configuration of a node that is a process of this program.
func NodeConfig(from io.Reader) ([]byte, error) {
	const most = 1 << 20
	config, err := io.ReadAll(io.LimitReader(from, most))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the server's configuration: %w", err)
	case len(config) == 0:
		return nil, errors.New("internal command: it expects its configuration on stdin; " +
			"plimsoll runs it for a target whose servers are processes of this program")
	}
	return config, nil
}
