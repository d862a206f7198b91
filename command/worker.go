package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fleet"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/systems"
)

// joinTokenEnv holds the token with which a worker or host joins a fleet.
const joinTokenEnv = "PLIMSOLL_JOIN_TOKEN"

// joining are the flags of the commands that join a fleet.
type joining struct {
	Join      string        `required:"" placeholder:"HOST:PORT" help:"The coordinator: the address that the experiment's command prints."`
	TokenFile string        `placeholder:"FILE" help:"The file with the join token; -: standard input. Default: the token is in PLIMSOLL_JOIN_TOKEN."`
	Name      string        `placeholder:"NAME" help:"The name in the fleet, unique there. Default: the machine's name."`
	Wait      time.Duration `default:"1m" placeholder:"1m" help:"How long to wait for the coordinator, which may start later."`
}

// serve joins the fleet from a machine of that name, and does what the coordinator asks until the
// experiment ends; an empty name is this machine's own. hosting is nil for a worker.
func (j *joining) serve(ctx context.Context, con console, token fleet.Token, machine string,
	hosting *fleet.Hosting,
) error {
	own, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read this machine's name: %w", err)
	}
	var saying sync.Mutex
	err = fleet.Work(ctx, fleet.WorkerOptions{
		Coordinator: j.Join, Token: token, Name: cmp.Or(j.Name, own), Host: cmp.Or(machine, own),
		Wait: j.Wait, Version: build().Version, Cores: runtime.NumCPU(),
		Systems: systems.Registry(), Clock: clock.Precise(), Hosting: hosting,
		Say: func(sentence string) {
			saying.Lock()
			defer saying.Unlock()
			fmt.Fprintln(con.err, sentence)
		},
	})
	if ctx.Err() != nil {
		return exitError(exitInterrupted)
	}
	return err
}

// workerCommand makes this process one of the workers of an experiment.
type workerCommand struct {
	joining
	Host string `placeholder:"NAME" help:"The name of the worker's machine in results. Default: the machine's own."`
}

// Run offers load on the coordinator's orders, until the experiment ends.
func (c *workerCommand) Run(con console) error {
	token, err := joinToken("worker", c.TokenFile)
	if err != nil {
		return inputError{err}
	}
	ctx, done := untilInterrupted(con.err)
	defer done()
	return c.serve(ctx, con, token, c.Host, nil)
}

// joinToken reads the join token of a worker or host.
func joinToken(who, file string) (t fleet.Token, err error) {
	raw := []byte(os.Getenv(joinTokenEnv))
	switch {
	case file == "-":
		const most = 1 << 10
		if raw, err = io.ReadAll(io.LimitReader(os.Stdin, most)); err != nil {
			return t, fmt.Errorf("read the join token: %w", err)
		}
	case file != "":
		if raw, err = strict.ReadFile(file); err != nil {
			return t, fmt.Errorf("--token-file: %w", err)
		}
	case len(raw) == 0:
		return t, errors.New("a " + who + " needs the fleet's join token: give --token-file, " +
			"or set " + joinTokenEnv)
	}
	return fleet.ParseToken(string(raw))
}
