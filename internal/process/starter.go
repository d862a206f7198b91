package process

import (
	"os/exec"
	"runtime"
	"sync"
)

// forks starts all children of this process.
var forks starter

// starter forks children on one thread, because a child is killed when the
// thread that forked it ends. A goroutine holds the thread from before the
// first child is forked until after the last has ended; it is the starter's,
// and there is none while there are no children.
type starter struct {
	mu       sync.Mutex
	children int
	requests chan request
}

type request struct {
	cmd    *exec.Cmd
	answer chan error
}

// start starts the command. ended must be called once it has ended, if it was
// started.
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

// ended gives the thread back when the last child has ended.
func (s *starter) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children--
	if s.children == 0 {
		close(s.requests)
	}
}

// hold owns the thread.
func hold(requests <-chan request) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for r := range requests {
		r.answer <- r.cmd.Start()
	}
}
