package command

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fleet"
	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
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
	err = fleet.Work(ctx, fleet.WorkerOptions{
		Coordinator: j.Join, Token: token, Name: cmp.Or(j.Name, own), Host: cmp.Or(machine, own),
		Wait: j.Wait, Version: build().Version, Cores: runtime.NumCPU(),
		Systems: systems.Registry(), Clock: clock.Precise(), Hosting: hosting, Say: con.note,
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

// hostCommand makes this machine one of those that run an experiment's servers.
type hostCommand struct {
	joining
	Machine string `placeholder:"NAME" help:"The name of the machine in results. Default: the machine's own."`
	Address string `placeholder:"IP" help:"The IPv4 address that the servers listen on. Default: the one from which this machine reaches the coordinator."`
	Dir     string `type:"path" default:"plimsoll-host" placeholder:"DIR" help:"The folder below which the servers' data is, on the disk to measure. The data is deleted when the servers end."`
	Serve   bool   `hidden:"" help:"Run servers; only the host's own first process says so."`
}

// hostGrace is how long the servers of a host may take to end.
const hostGrace = time.Minute

// Run starts servers on the coordinator's orders, until the experiment ends. A second process has
// the servers, so that one of the two is left to clean up when the other is killed.
func (c *hostCommand) Run(con console) error {
	if c.Serve {
		return c.second(con)
	}
	token, err := joinToken("host", c.TokenFile)
	if err != nil {
		return inputError{err}
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	ctx, done := untilInterrupted(con.err)
	defer done()
	args := []string{"host", "--serve", "--join", c.Join, "--name", c.Name, "--machine", c.Machine,
		"--address", c.Address, "--dir", c.Dir, "--wait", c.Wait.String()}
	other := exec.CommandContext(ctx, program, args...)
	other.Stderr = con.err
	// A terminal's interrupt reaches the first process only.
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	lifeline, err := other.StdinPipe()
	if err == nil {
		other.Cancel, other.WaitDelay = lifeline.Close, hostGrace
		err = other.Start()
	}
	if err != nil {
		return fmt.Errorf("start the host: %w", err)
	}
	_, err = fmt.Fprintln(lifeline, token.Text())
	err = errors.Join(other.Wait(), err)
	leftover.Sweep(testbed.Removers(), con.note)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return exitError(exitInterrupted)
	case errors.As(err, &exit) && exit.Exited():
		return exitError(exit.ExitCode()) // it has said why
	case exit != nil:
		return fmt.Errorf("the process with the servers was ended (%w)", exit)
	}
	return err
}

// second is the second process. The first one gives it the token, and lives as long as its standard
// input is open.
func (c *hostCommand) second(con console) error {
	const most = 1 << 10
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, most)).ReadString('\n')
	if err != nil {
		return inputError{errors.New("--serve is for the host's own second process: leave it out")}
	}
	token, err := fleet.ParseToken(line)
	if err != nil {
		return inputError{err}
	}
	ctx, done := untilInterrupted(con.err)
	defer done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // it ends with the process
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	address := c.Address
	if address == "" {
		if address, err = ownAddress(ctx, c.Join); err != nil {
			return err
		}
	}
	return c.serve(ctx, con, token, c.Machine, &fleet.Hosting{Address: address, Base: c.Dir})
}

// ownAddress returns the address from which this machine reaches another one.
func ownAddress(ctx context.Context, other string) (string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp4", other) // it sends nothing
	if err != nil {
		return "", fmt.Errorf("find this machine's address towards %s: give --address: %w", other,
			err)
	}
	defer conn.Close()
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return host, err
}
