package command

import (
	"os"

	"github.com/alecthomas/kong"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems"
)

// nodeCommand makes this program one server of a cluster. Its command line identifies the server,
// for people and for resource observation.
type nodeCommand struct {
	Name string `arg:"" help:"The server's name."`
	Dir  string `arg:"" help:"The server's folder."`

	serve system.NodeServer
}

// nodeCommands returns a hidden command for each system whose servers are this program.
func nodeCommands() []kong.Option {
	var all []kong.Option
	for _, s := range systems.All() {
		if n, ok := s.(system.NodeServer); ok {
			all = append(all, kong.DynamicCommand(n.NodeCommand(),
				"Run one server; only plimsoll itself starts this.", "", &nodeCommand{serve: n},
				`hidden:""`))
		}
	}
	return all
}

// Run runs a server until it is told to end.
func (c *nodeCommand) Run(console) error {
	ctx, stop := untilTold()
	defer stop()
	return c.serve.ServeNode(ctx, os.Stdin, os.Stdout)
}
