package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Spec says what to start.
type Spec struct {
	// Group is the number of the group that the child runs under, which takes
	// root; 0: this process's own. By it a firewall knows whose a packet is.
	Group int

	Name string // what errors call it
	Path string // of the program
	Args []string
	Env  []string // all of the child's environment; nothing is inherited
	Dir  string   // its working directory
	Log  string   // the file that its output is appended to
	// Input is what the child reads on its standard input, each time that it is
	// started; nil: nothing.
	Input []byte
}

// Server is a child process, which can be started again when it has ended. Its
// methods may be called from any goroutine.
type Server struct {
	spec Spec

	mu      sync.Mutex
	now     *life
	stopped bool // for good
}

// life is one start of a server and its end.
type life struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // set before exited is closed
}

// Start starts a child. Its owner ends it with Stop or Kill, or waits for
// Exited.
func Start(spec Spec) (*Server, error) {
	now, err := begin(spec)
	if err != nil {
		return nil, err
	}
	return &Server{spec: spec, now: now}, nil
}

func begin(spec Spec) (*life, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("making the log of %s: %w", spec.Name, err)
	}
	defer log.Close() // the child has its own
	cmd := exec.Command(spec.Path, spec.Args...)
	// An empty list, and not nil, which would mean the parent's environment.
	cmd.Env = append([]string{}, spec.Env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = spec.Dir, log, log
	if spec.Input != nil {
		cmd.Stdin = bytes.NewReader(spec.Input)
	}
	cmd.SysProcAttr = attributes()
	if spec.Group != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(spec.Group)}
	}
	l := &life{cmd: cmd, exited: make(chan struct{})}
	if err := forks.start(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Name, err)
	}
	go l.wait()
	return l, nil
}

// wait ends with the child.
func (l *life) wait() {
	l.err = l.cmd.Wait()
	forks.ended()
	close(l.exited)
}

// Restart starts a child that has ended again, as it was started before: in its
// folder, with its arguments and its log. It is an error while the child runs,
// and after Stop.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return fmt.Errorf("starting %s again: it was stopped for good", s.spec.Name)
	}
	select {
	case <-s.now.exited:
	default:
		return fmt.Errorf("starting %s again: it runs still, as process %d", s.spec.Name, s.now.cmd.Process.Pid)
	}
	now, err := begin(s.spec)
	if err != nil {
		return err
	}
	s.now = now
	return nil
}

func (s *Server) life() *life {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// PID is the process number of the child that was started last.
func (s *Server) PID() int { return s.life().cmd.Process.Pid }

// Exited is closed when the child that was started last has ended.
func (s *Server) Exited() <-chan struct{} { return s.life().exited }

// Err is how the child ended: nil while it runs, and when it ended with exit
// code 0.
func (s *Server) Err() error {
	l := s.life()
	select {
	case <-l.exited:
		return l.err
	default:
		return nil
	}
}

// Stop asks the child to end, kills it when it has not done so within the
// grace or when ctx ends, and waits until it is gone. It is idempotent, and for good: Restart starts nothing
// afterwards.
func (s *Server) Stop(ctx context.Context, grace time.Duration) error {
	s.mu.Lock()
	s.stopped = true
	l := s.now
	s.mu.Unlock()
	// A child that has ended was waited for, so this reaches nobody else.
	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("asking %s to end: %w", s.spec.Name, err)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-l.exited:
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
	l := s.life()
	pid := l.cmd.Process.Pid
	select {
	case <-l.exited:
		return nil
	default:
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("killing %s: %w", s.spec.Name, err)
	}
	timer := time.NewTimer(killWait)
	defer timer.Stop()
	select {
	case <-l.exited:
		return nil
	case <-timer.C:
		return fmt.Errorf("%s (process %d) was killed and is not gone after %s: see what it waits for with: cat /proc/%d/stack",
			s.spec.Name, pid, killWait, pid)
	}
}
