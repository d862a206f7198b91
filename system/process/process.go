package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Spec describes the process to start.
type Spec struct {
	// Group is the number of the user group of the child. It needs root, and lets a firewall
	// recognise the child's packets. 0 means the group of this process.
	Group int
	// User is the number of the user of the child. It needs root. The child keeps one of root's
	// rights on Linux: the modes of files and folders do not bind it, because the folders above
	// its own may belong to root alone. Its working directory is /. 0 means the user of this
	// process.
	User int
	// Quit is the signal by which Stop asks the child to end. 0 means SIGTERM.
	Quit syscall.Signal

	Name string // for errors
	Path string // of the program
	Args []string
	Env  []string // the whole environment of the child; it inherits nothing
	Dir  string   // the working directory
	Log  string   // the file to append its output to; beyond MostLog its middle is cut out
	// Input is what the child reads on its standard input, at each start; nil: nothing.
	Input []byte
}

// Server is a child process that can be started again after it has ended. Its methods are
// safe for concurrent use.
type Server struct {
	spec Spec // of the first start

	mu      sync.Mutex
	next    Spec // of the next start
	now     *life
	stopped bool // by Stop, so that Restart is refused
}

// life is one run of a server's process.
type life struct {
	cmd    *exec.Cmd // nil: the server was never started
	exited chan struct{}
	err    error // set before exited is closed
}

// Start starts a child. The caller must end it with Stop or Kill, or wait for Exited.
func Start(spec Spec) (*Server, error) {
	now, err := begin(spec)
	if err != nil {
		return nil, err
	}
	return &Server{spec: spec, next: spec, now: now}, nil
}

// Prepare returns a server that Restart starts.
func Prepare(spec Spec) *Server {
	before := &life{exited: make(chan struct{})}
	close(before.exited)
	return &Server{spec: spec, next: spec, now: before}
}

func begin(spec Spec) (*life, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("make the log of %s: %w", spec.Name, err)
	}
	defer log.Close() // the child has a descriptor of its own
	cmd := exec.Command(spec.Path, spec.Args...)
	// The list must not be nil, which would mean the parent's environment.
	cmd.Env = append([]string{}, spec.Env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = spec.Dir, log, log
	if spec.User != 0 {
		cmd.Dir = "/" // the child gets its right over folders only when its program runs
	}
	if spec.Input != nil {
		cmd.Stdin = bytes.NewReader(spec.Input)
	}
	cmd.SysProcAttr = attributes(spec)
	if spec.Group != 0 || spec.User != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{
			Uid: uint32(cmp.Or(spec.User, os.Getuid())),
			Gid: uint32(cmp.Or(spec.Group, os.Getgid())),
		}
	}
	l := &life{cmd: cmd, exited: make(chan struct{})}
	if err := forks.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	go l.wait()
	go bound(spec.Log, l.exited)
	return l, nil
}

// wait waits for the child, and records how it ended.
func (l *life) wait() {
	l.err = l.cmd.Wait()
	forks.ended()
	close(l.exited)
}

// reapWait bounds how long after its end a child may still count as running.
const reapWait = 2 * time.Second

// hasEnded reports whether the child has ended. It waits for the report of a child that the
// kernel no longer lists as running.
func (l *life) hasEnded() bool {
	select {
	case <-l.exited:
		return true
	default:
	}
	if running(l.cmd.Process.Pid) {
		return false
	}
	select {
	case <-l.exited:
		return true
	case <-time.After(reapWait):
		return false
	}
}

// Become makes Restart start another program of the same name that ends by the same signal.
func (s *Server) Become(spec Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = spec
}

// Restart starts a child again after it has ended, with the latest Spec. It is an error while
// the child runs, and after Stop.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return fmt.Errorf("start %s again: it was stopped: start a new server", s.spec.Name)
	}
	if !s.now.hasEnded() {
		return fmt.Errorf("start %s again: it still runs as process %d: kill it first",
			s.spec.Name, s.now.cmd.Process.Pid)
	}
	now, err := begin(s.next)
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

// PID returns the process number of the child's last start; 0: there was none.
func (s *Server) PID() int { return s.life().pid() }

func (l *life) pid() int {
	if l.cmd == nil {
		return 0
	}
	return l.cmd.Process.Pid
}

// Quit returns the signal by which Stop asks the child to end.
func (s *Server) Quit() syscall.Signal { return cmp.Or(s.spec.Quit, syscall.SIGTERM) }

// Exited returns a channel that is closed when the child's last start has ended.
func (s *Server) Exited() <-chan struct{} { return s.life().exited }

// Err returns how the child ended. It is nil while the child runs, and after exit code 0.
func (s *Server) Err() error {
	l := s.life()
	select {
	case <-l.exited:
		return l.err
	default:
		return nil
	}
}

// Stop asks the child to end, and kills it after the grace period or when ctx ends. It
// returns when the child has ended. It is idempotent. Restart fails after it.
func (s *Server) Stop(ctx context.Context, grace time.Duration) error {
	s.mu.Lock()
	s.stopped = true
	l := s.now
	s.mu.Unlock()
	if l.cmd == nil {
		return nil
	}
	// An ended child returns ErrProcessDone, so the signal reaches no other process.
	err := l.cmd.Process.Signal(s.Quit())
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ask %s to end: %w", s.spec.Name, err)
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

// killWait bounds the wait for a killed child. The kernel takes longer only when a disk or
// a network file system does not answer.
const killWait = 10 * time.Second

// Kill kills the child and the processes that it started, and returns when the child has
// ended. It is idempotent.
func (s *Server) Kill() error {
	l := s.life()
	pid := l.pid()
	select {
	case <-l.exited:
		return nil
	default:
	}
	family := Family(pid)
	if err := Signal(family, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", s.spec.Name, err)
	}
	timer := time.NewTimer(killWait)
	defer timer.Stop()
	select {
	case <-l.exited:
	case <-timer.C:
		return s.stays(pid)
	}
	for _, other := range family[1:] {
		for ; running(other); time.Sleep(killPoll) {
			select {
			case <-timer.C:
				return s.stays(other)
			default:
			}
		}
	}
	return nil
}

// killPoll is the interval between checks of a killed process that is not a child.
const killPoll = time.Millisecond

func (s *Server) stays(pid int) error {
	return fmt.Errorf("%s (process %d) has not ended %s after it was killed: "+
		"see what it waits for with: cat /proc/%d/stack", s.spec.Name, pid, killWait, pid)
}
