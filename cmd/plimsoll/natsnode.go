package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/plimsoll-bench/plimsoll/systems/nats"
)

// natsNodeCommand is nats.NodeCommand. What is on its command line tells the
// servers apart, for people and for whoever observes them.
type natsNodeCommand struct {
	Name string `arg:"" help:"The server's name."`
	Dir  string `arg:"" help:"The server's folder."`
}

// Run is a server until it is told to end.
func (*natsNodeCommand) Run(console) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return nats.ServeNode(ctx, os.Stdin, os.Stdout)
}
