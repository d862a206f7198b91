package process

import (
	"os/exec"
	"runtime"
	"sync"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// forks starts all children of this process.
var forks starter

// starter forks children on one thread, because the kernel kills a child when the thread
// that forked it ends. The starter's goroutine holds that thread from before the first fork
// until the last child has ended. Without children there is no such goroutine.
type starter struct {
	mu       sync.Mutex
	children int
	requests chan request
	cpus     []int // of the children that are started from now on; nil: those of this process
}

type request struct {
	cmd    *exec.Cmd
	cpus   []int
	answer chan error
}

// StartOn lets the children that are started from now on run on the given CPUs only, until undo
// is called. Programs that size themselves by their CPUs, such as Java, see no others.
func StartOn(cpus []int) (undo func()) {
	before := forks.on(cpus)
	return func() { forks.on(before) }
}

func (s *starter) on(cpus []int) (before []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.cpus = s.cpus, cpus
	return before
}

// start starts the command. If it succeeds, the caller must call ended when the command has
// ended.
func (s *starter) start(cmd *exec.Cmd) error {
	s.mu.Lock()
	if s.children == 0 {
		s.requests = make(chan request)
		go hold(s.requests)
	}
	s.children++
	requests := s.requests
	r := request{cmd, s.cpus, make(chan error)}
	s.mu.Unlock()
	requests <- r
	err := <-r.answer
	if err != nil {
		s.ended()
	}
	return err
}

// ended releases the thread when the last child has ended.
func (s *starter) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children--
	if s.children == 0 {
		close(s.requests)
	}
}

// hold starts commands on one thread until requests is closed.
func hold(requests <-chan request) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for r := range requests {
		r.answer <- onCPUs(r.cpus, func() error { return clock.InUsualSlices(r.cmd.Start) })
	}
}
