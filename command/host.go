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
	"sync"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fleet"
	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems"
)

// hostCommand makes this machine one of those that run an experiment's servers.
type hostCommand struct {
	Join      string        `required:"" placeholder:"HOST:PORT" help:"The coordinator: the address that the experiment's command prints."`
	TokenFile string        `placeholder:"FILE" help:"The file with the join token; -: standard input. Default: the token is in PLIMSOLL_JOIN_TOKEN."`
	Name      string        `placeholder:"NAME" help:"The host's name, unique in the fleet. Default: the machine's name."`
	Machine   string        `placeholder:"NAME" help:"The name of the machine in results. Default: the machine's own."`
	Address   string        `placeholder:"IP" help:"The IPv4 address that the servers listen on. Default: the one from which this machine reaches the coordinator."`
	Dir       string        `type:"path" default:"plimsoll-host" placeholder:"DIR" help:"The folder below which the servers' data is, on the disk to measure. The data is deleted when the servers end."`
	Wait      time.Duration `default:"1m" placeholder:"1m" help:"How long to wait for the coordinator, which may start later."`
	Serve     bool          `hidden:"" help:"Run servers; only the host's own first process says so."`
}

// hostGrace is how long the servers of a host may take to end.
const hostGrace = time.Minute

// Run starts servers on the coordinator's orders, until the experiment ends. A second process has
// the servers, so that one of the two is left to clean up when the other is killed.
func (c *hostCommand) Run(con console) error {
	if c.Serve {
		return c.serve(con)
	}
	token, err := joinToken("host", c.TokenFile, os.Stdin)
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
	second := exec.CommandContext(ctx, program, args...)
	second.Stderr = con.err
	// A terminal's interrupt reaches the first process only.
	second.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	lifeline, err := second.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the host: %w", err)
	}
	second.Cancel = lifeline.Close
	second.WaitDelay = hostGrace
	if err := second.Start(); err != nil {
		return fmt.Errorf("start the host: %w", err)
	}
	_, err = fmt.Fprintln(lifeline, token.Text())
	err = errors.Join(second.Wait(), err)
	leftover.Sweep(testbed.Removers(), func(sentence string) { fmt.Fprintln(con.err, sentence) })
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

// serve is the second process. The first one gives it the token, and lives as long as its standard
// input is open.
func (c *hostCommand) serve(con console) error {
	const most = 1 << 10
	first := bufio.NewReader(io.LimitReader(os.Stdin, most))
	line, err := first.ReadString('\n')
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
	machine, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read the host's name: %w", err)
	}
	address := c.Address
	if address == "" {
		if address, err = ownAddress(ctx, c.Join); err != nil {
			return err
		}
	}
	var saying sync.Mutex
	err = fleet.Work(ctx, fleet.WorkerOptions{
		Coordinator: c.Join, Token: token, Name: cmp.Or(c.Name, machine),
		Host: cmp.Or(c.Machine, machine),
		Wait: c.Wait, Version: build().Version, Cores: runtime.NumCPU(),
		Systems: systems.Registry(), Clock: clock.Precise(),
		Hosting: &fleet.Hosting{Address: address, Base: c.Dir},
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
