package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Spec says what to start.
type Spec struct {
	Name string // what errors call it
	Path string // of the program
	Args []string
	Env  []string // all of the child's environment; nothing is inherited
	Dir  string   // its working directory
	Log  string   // the file that its output is appended to
}

// Server is a child process. Its methods may be called from any goroutine.
type Server struct {
	name   string
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // set before exited is closed
}

// Start starts a child. Its owner ends it with Stop or Kill, or waits for
// Exited.
func Start(spec Spec) (*Server, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("making the log of %s: %w", spec.Name, err)
	}
	defer log.Close() // the child has its own
	cmd := exec.Command(spec.Path, spec.Args...)
	// An empty list, and not nil, which would mean the parent's environment.
	cmd.Env = append([]string{}, spec.Env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = spec.Dir, log, log
	cmd.SysProcAttr = attributes()
	s := &Server{name: spec.Name, cmd: cmd, exited: make(chan struct{})}
	if err := forks.start(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Name, err)
	}
	go s.wait()
	return s, nil
}

// wait ends with the child.
func (s *Server) wait() {
	s.err = s.cmd.Wait()
	forks.ended()
	close(s.exited)
}

// PID is the child's process number.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Exited is closed when the child has ended.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Err is how the child ended: nil while it runs, and when it ended with exit
// code 0.
func (s *Server) Err() error {
	select {
	case <-s.exited:
		return s.err
	default:
		return nil
	}
}

// Stop asks the child to end, kills it when it has not done so within the
// grace or when ctx ends, and waits until it is gone. It is idempotent.
func (s *Server) Stop(ctx context.Context, grace time.Duration) error {
	// A child that has ended was waited for, so this reaches nobody else.
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("asking %s to end: %w", s.name, err)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-s.exited:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return s.Kill()
}

// killWait bounds the wait for a killed child. The kernel needs longer only
// when a disk or network under it does not answer.
const killWait = 10 * time.Second

// Kill ends the child and what it started, at once, and waits until it is
// gone. It is idempotent.
func (s *Server) Kill() error {
	select {
	case <-s.exited:
		return nil
	default:
	}
	if err := syscall.Kill(-s.PID(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("killing %s: %w", s.name, err)
	}
	timer := time.NewTimer(killWait)
	defer timer.Stop()
	select {
	case <-s.exited:
		return nil
	case <-timer.C:
		return fmt.Errorf("%s (process %d) was killed and is not gone after %s: see what it waits for with: cat /proc/%d/stack",
			s.name, s.PID(), killWait, s.PID())
	}
}
