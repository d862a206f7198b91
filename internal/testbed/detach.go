package testbed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// detachLimit bounds the start, the servers' first download included.
	detachLimit = 15 * time.Minute
	// endLimit bounds the end of an owner that was asked to: its servers get
	// stopLimit, then they are killed.
	endLimit  = stopLimit + 15*time.Second
	stopLimit = 30 * time.Second
	// Descriptors that the owner is started with, besides the usual ones.
	lockDescriptor   = 3
	answerDescriptor = 4
)

// Detached says which testbed to start in a process of its own.
type Detached struct {
	Base string
	// Name is the testbed's; there is one of a name under a base.
	Name string
	// Command starts the process, which must call Own. It gets Request.
	Command []string
	Request []byte // JSON on one line
	// Progress is told in a sentence what takes long; it may be nil.
	Progress func(sentence string)
}

// IsUpError is what Detach returns when a testbed of that name is there.
type IsUpError struct{ State State }

// Error says that it is there.
func (e *IsUpError) Error() string {
	if e.State.Phase == PhaseUp {
		return e.State.Name + " is up already"
	}
	return fmt.Sprintf("another process has %s already, and it is %s", e.State.Name, e.State.Phase)
}

// answer is a line that the owner says to who started it.
type answer struct {
	Progress string `json:"progress,omitempty"`
	Failed   string `json:"failed,omitempty"`
	Ready    bool   `json:"ready,omitempty"`
}

const release = "release\n"

// Detach starts a process that owns a testbed and returns when the cluster can
// be connected to. From then on the process lives until Down, or until the
// testbed's directory is removed. When Detach fails or ctx ends before,
// nothing is left behind, even if this process is killed: the owner ends when
// nobody releases it.
func Detach(ctx context.Context, d Detached) (State, error) {
	base, err := filepath.Abs(d.Base)
	if err != nil {
		return State{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, detachLimit)
	defer cancel()
	r, err := openRoom(ctx, base, d.Name)
	if errors.Is(err, os.ErrExist) {
		return State{}, taken(filepath.Join(base, rootName, d.Name), d.Name)
	}
	if err != nil {
		return State{}, explain(base, err)
	}
	o, err := d.startOwner(r, base)
	if err != nil {
		return State{}, errors.Join(explain(base, err), r.remove())
	}
	r.lock.Close() // the owner's now
	state, err := o.await(ctx, r.dir, d)
	if err != nil {
		// It leaves nothing, unless it was killed.
		_, _, cleanErr := clean(context.WithoutCancel(ctx), base)
		return State{}, errors.Join(err, cleanErr)
	}
	return state, nil
}

// taken says what is in the way of a testbed of that name.
func taken(dir, name string) error {
	s, err := readState(dir)
	if errors.Is(err, os.ErrNotExist) {
		if held, _ := isHeld(dir); !held {
			return fmt.Errorf("%s is in the way and not plimsoll's: move it, or give the testbed another name", dir)
		}
		s, err = State{Name: name, Phase: PhaseStarting}, nil
	}
	if err != nil {
		return err
	}
	return &IsUpError{s}
}

// child is the owner, as who started it sees it.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser // closing it before release ends the owner
	answers *os.File
	exited  chan struct{}
}

// startOwner starts the process in a session of its own, so that no terminal's
// interrupt reaches it. It inherits the room's lock.
func (d Detached) startOwner(r *room, base string) (*child, error) {
	log, err := os.OpenFile(filepath.Join(r.dir, ownerLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	answers, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command(d.Command[0], d.Command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = base, log, log
	cmd.ExtraFiles = []*os.File{lockDescriptor - 3: r.lock, answerDescriptor - 3: theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		answers.Close()
		return nil, fmt.Errorf("starting the process that owns the testbed: %w", err)
	}
	o := &child{cmd: cmd, in: in, answers: answers, exited: make(chan struct{})}
	go func() {
		// The pipe to it is this side's to close, so that Wait does not race
		// with a release.
		_, _ = cmd.Process.Wait()
		close(o.exited)
	}()
	return o, nil
}

// await hands the request over and follows the start to its end.
func (o *child) await(ctx context.Context, dir string, d Detached) (State, error) {
	stop := context.AfterFunc(ctx, func() { o.answers.Close() })
	defer stop()
	defer o.answers.Close()
	defer func() { _ = o.in.Close() }()
	raw, err := json.Marshal(hello{Dir: dir, Name: d.Name, Request: d.Request})
	if err == nil {
		// Of a process that has ended already, its answers tell.
		if _, err = o.in.Write(append(raw, '\n')); errors.Is(err, syscall.EPIPE) {
			err = nil
		}
	}
	if err == nil {
		err = o.follow(d.Progress)
	}
	var state State
	if err == nil {
		state, err = readState(dir)
	}
	if err == nil && ctx.Err() == nil {
		_, err = io.WriteString(o.in, release)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("starting %s was ended: %w", d.Name, context.Cause(ctx))
	}
	if err != nil {
		return State{}, errors.Join(err, o.end())
	}
	return state, nil
}

// follow reads what the owner says until it is ready.
func (o *child) follow(progress func(string)) error {
	lines := bufio.NewScanner(o.answers)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return fmt.Errorf("reading what the testbed's process says: %w", err)
		}
		switch {
		case a.Failed != "":
			return errors.New(a.Failed)
		case a.Ready:
			return nil
		case a.Progress != "" && progress != nil:
			progress(a.Progress)
		}
	}
	return errors.New("the process that owns the testbed ended before it was up")
}

// end ends an owner that was not released: closing its input asks for it.
func (o *child) end() error {
	_ = o.in.Close()
	timer := time.NewTimer(endLimit)
	defer timer.Stop()
	select {
	case <-o.exited:
		return nil
	case <-timer.C:
	}
	if err := o.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing the testbed's process %d: %w", o.cmd.Process.Pid, err)
	}
	<-o.exited
	return nil
}
