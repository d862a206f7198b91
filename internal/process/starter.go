package process

import (
	"os/exec"
	"runtime"
	"sync"
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
}

type request struct {
	cmd    *exec.Cmd
	answer chan error
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
	s.mu.Unlock()
	r := request{cmd, make(chan error)}
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
		r.answer <- r.cmd.Start()
	}
}
