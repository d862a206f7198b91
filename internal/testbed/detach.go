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
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

const (
	// detachLimit bounds the start, including the servers' first download, and without a warm-up.
	detachLimit = 15 * time.Minute
	// endLimit bounds the end of an owner: its servers get stopLimit, and are killed
	// after it.
	endLimit  = stopLimit + 15*time.Second
	stopLimit = 30 * time.Second
	// The owner's descriptors besides the standard ones.
	lockDescriptor   = 3
	answerDescriptor = 4
)

// Detached describes a testbed to start in a process of its own.
type Detached struct {
	Base string
	// Name is the testbed's name, which must be unique under Base.
	Name string
	// Command starts the owner, which must call Own. Own gets Request.
	Command []string
	Request []byte // JSON on one line
	// Progress receives a sentence before each long step. It may be nil.
	Progress func(sentence string)
	// Longer is the longest that the order's Warm takes.
	Longer time.Duration
}

// IsUpError is the error of Detach when a testbed of that name exists.
type IsUpError struct{ State State }

// Error returns a sentence with the testbed's name and phase.
func (e *IsUpError) Error() string {
	if e.State.Phase == PhaseUp {
		return e.State.Name + " is up already"
	}
	return fmt.Sprintf("another process has %s already, and it is %s",
		e.State.Name, e.State.Phase)
}

// answer is a line from the owner to the process that started it.
type answer struct {
	Progress string `json:"progress,omitempty"`
	Failed   string `json:"failed,omitempty"`
	Ready    bool   `json:"ready,omitempty"`
}

const release = "release\n"

// Detach starts a process that owns a testbed, and returns when clients can connect to the
// cluster. Then that process lives until Down, or until the testbed's directory is removed.
// When Detach fails or ctx ends before, nothing is left behind. This holds even when this
// process is killed, because the owner ends without a release from Detach.
func Detach(ctx context.Context, d Detached) (State, error) {
	base, err := filepath.Abs(d.Base)
	if err != nil {
		return State{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, detachLimit+d.Longer)
	defer cancel()
	r, err := openFolder(ctx, base, d.Name)
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
	r.lock.Close() // the owner has the lock now
	state, err := o.await(ctx, r.dir, d)
	if err != nil {
		// The owner has removed everything, unless it was killed.
		_, _, cleanErr := clean(context.WithoutCancel(ctx), base)
		return State{}, errors.Join(err, cleanErr)
	}
	return state, nil
}

// taken returns the error for a name that is in use.
func taken(dir, name string) error {
	s, err := readState(dir)
	if errors.Is(err, os.ErrNotExist) {
		if held, _ := isHeld(dir); !held {
			return fmt.Errorf("%s is in the way and is not a testbed: "+
				"move it, or give the testbed another name", dir)
		}
		s, err = State{Name: name, Phase: PhaseStarting}, nil
	}
	if err != nil {
		return err
	}
	return &IsUpError{s}
}

// child is the owner, seen from the process that started it.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser // closing it before release ends the owner
	answers *os.File
	exited  chan struct{}
}

// startOwner starts the owner in a session of its own, so that an interrupt at the terminal
// does not reach it. It inherits the folder's lock.
func (d Detached) startOwner(r *folder, base string) (*child, error) {
	path := filepath.Join(r.dir, ownerLog)
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
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
		return nil, fmt.Errorf("start the process that owns the testbed: %w", err)
	}
	o := &child{cmd: cmd, in: in, answers: answers, exited: make(chan struct{})}
	go func() {
		// Cmd.Wait would close the pipe to the owner, which would race with a release.
		_, _ = cmd.Process.Wait()
		close(o.exited)
	}()
	return o, nil
}

// await sends the request to the owner, and waits until the start has succeeded or failed.
func (o *child) await(ctx context.Context, dir string, d Detached) (State, error) {
	stop := context.AfterFunc(ctx, func() { o.answers.Close() })
	defer stop()
	defer o.answers.Close()
	defer func() { _ = o.in.Close() }()
	raw, err := json.Marshal(hello{Dir: dir, Name: d.Name, Request: d.Request})
	if err == nil {
		// When the owner has ended already, its answers give the reason.
		if _, err = o.in.Write(append(raw, '\n')); errors.Is(err, syscall.EPIPE) {
			err = nil
		}
	}
	if err == nil {
		err = o.follow(dir, d.Progress)
	}
	var state State
	if err == nil {
		state, err = readState(dir)
	}
	if err == nil && ctx.Err() == nil {
		_, err = io.WriteString(o.in, release)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("the start of %s was ended: %w", d.Name, context.Cause(ctx))
	}
	if err != nil {
		return State{}, errors.Join(err, o.end())
	}
	return state, nil
}

// follow reads the owner's answers until it is ready.
func (o *child) follow(dir string, progress func(string)) error {
	lines := bufio.NewScanner(o.answers)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return fmt.Errorf("read the answers of the testbed's process: %w", err)
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
	return fmt.Errorf("the process that owns the testbed ended before it was up%s: start it again",
		lastWords(dir))
}

// lastWords returns how the log of an owner that ended without an answer begins, in parentheses: a
// crash begins with its reason. It is empty without such a log.
func lastWords(dir string) string {
	log, err := os.Open(filepath.Join(dir, ownerLog))
	if err != nil {
		return ""
	}
	defer log.Close()
	lines := bufio.NewScanner(io.LimitReader(log, mostWords))
	for lines.Scan() {
		if words := strings.TrimSpace(lines.Text()); words != "" {
			return " (" + words + ")"
		}
	}
	return ""
}

// mostWords bounds what is read of an owner's log.
const mostWords = 4096

// end ends an owner that was not released. Closing its input asks it to end.
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
		return fmt.Errorf("kill the testbed's process %d: %w", o.cmd.Process.Pid, err)
	}
	<-o.exited
	return nil
}

// vanishPoll is the interval of an owner's checks that its directory exists.
const vanishPoll = time.Second

// hello is the line that Detach sends to an owner first.
type hello struct {
	Dir     string          `json:"dir"`
	Name    string          `json:"name"`
	Request json.RawMessage `json:"request"`
}

// Order is the testbed that a request asks for.
type Order struct {
	System      string
	Provisioner system.Provisioner
	Provision   system.Provision // Own sets DataDir and LogDir
	// Settings are the clients' settings for the target.
	Settings  []target.Setting
	NeedBytes int64
	Prepare   Preparation
	// Injector returns the injector for Break and Heal. With nil the testbed takes no
	// faults.
	Injector func(*Testbed) system.Injector
	// Hosts, if not nil, returns the machines that the servers start on, when they are there, and
	// what ends them. It calls progress with what they need.
	Hosts func(ctx context.Context, progress func(sentence string)) (Hosts, func(), error)
	// Warm, if not nil, puts the running cluster under load before it is announced, and calls
	// progress before each long step. Its error ends the testbed.
	Warm func(ctx context.Context, bed *Testbed, progress func(sentence string)) (
		*result.Warming, error)
}

// Own runs a process that Detach started. It starts the cluster, writes the target, and
// waits. When ctx ends, when its directory vanishes, or when Detach's process ends before
// the release, it stops the cluster and removes everything. Then it returns.
func Own(ctx context.Context, in io.Reader, order func(request []byte) (Order, error)) error {
	lock, answers, err := inherited()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := bufio.NewReader(in)
	var told hello
	raw, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(raw, &told)
	}
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	k := &keeper{
		folder: &folder{dir: told.Dir, lock: lock}, answers: answers, released: make(chan struct{}),
	}
	go func() {
		// This goroutine ends at the latest with the process that started this one, which
		// closes the pipe.
		if line, _ := lines.ReadString('\n'); line == release {
			close(k.released)
			return
		}
		cancel()
	}()
	err = k.keep(ctx, told, order)
	if err != nil {
		k.say(answer{Failed: err.Error()})
	}
	return err
}

// inherited takes over the descriptors from Detach, and marks them close-on-exec. A server
// that inherited the lock would keep the folder alive.
func inherited() (lock, answers *os.File, err error) {
	// A process that a user started has other files at these descriptors, if any.
	for fd, kind := range map[int]uint32{
		lockDescriptor: syscall.S_IFREG, answerDescriptor: syscall.S_IFIFO,
	} {
		var stat syscall.Stat_t
		err := syscall.Fstat(fd, &stat)
		if err != nil || uint32(stat.Mode)&syscall.S_IFMT != kind {
			return nil, nil, errors.New("this command is internal: use plimsoll testbed up")
		}
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(lockDescriptor, lockName), os.NewFile(answerDescriptor, "answers"), nil
}

// keeper owns one testbed.
type keeper struct {
	folder   *folder
	released chan struct{} // closed by the release, after which the owner lives on alone

	mu      sync.Mutex
	answers *os.File
}

// say sends an answer to the process that started this one, until the release.
func (k *keeper) say(a answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answers == nil {
		return
	}
	raw, err := json.Marshal(a)
	if err == nil {
		_, _ = k.answers.Write(append(raw, '\n'))
	}
}

// keep runs the testbed from its start to its end.
func (k *keeper) keep(
	ctx context.Context, told hello, order func([]byte) (Order, error),
) (err error) {
	o, err := order(told.Request)
	if err != nil {
		return errors.Join(err, k.folder.remove())
	}
	state := State{
		Version: stateVersion, Name: told.Name, System: o.System, Phase: PhaseStarting,
		PID: os.Getpid(), Durability: int(o.Provision.Durability),
		StartedAt: time.Now().UTC(), Nodes: []Node{}, Dir: k.folder.dir,
		Target: filepath.Join(k.folder.dir, targetName),
	}
	if err := k.folder.save(state); err != nil {
		return errors.Join(err, k.folder.remove())
	}
	where, hosts := "this machine", Hosts(nil)
	if o.Hosts != nil {
		found, end, err := o.Hosts(ctx, k.progress)
		if err != nil {
			return errors.Join(err, k.folder.remove())
		}
		defer end()
		where, hosts, state.Hosted = "hosts", found, true
	}
	k.say(answer{Progress: fmt.Sprintf("starting %s of %d nodes on %s",
		told.Name, o.Provision.Nodes, where)})
	bed, err := k.start(ctx, o, hosts)
	if err != nil {
		return errors.Join(err, k.folder.remove())
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = errors.Join(err, bed.Close(ctx))
	}()
	if o.Warm != nil {
		if state.Warmed, err = o.Warm(ctx, bed, k.progress); err != nil {
			return err
		}
	}
	return k.serve(ctx, bed, o, state)
}

// start starts the cluster in the folder.
func (k *keeper) start(ctx context.Context, o Order, hosts Hosts) (*Testbed, error) {
	o.Provision.LogDir = filepath.Join(k.folder.dir, logsName)
	if hosts != nil {
		o.Provision.Site = hosts
	}
	return Options{
		Base: filepath.Dir(filepath.Dir(k.folder.dir)), Provisioner: o.Provisioner,
		Provision: o.Provision, NeedBytes: o.NeedBytes, Prepare: o.Prepare,
		Progress: k.progress, Hosts: hosts,
	}.startIn(ctx, k.folder)
}

func (k *keeper) progress(sentence string) { k.say(answer{Progress: sentence}) }

// serve announces the running cluster, and serves requests until the testbed must end.
func (k *keeper) serve(ctx context.Context, bed *Testbed, o Order, state State) error {
	for _, n := range bed.cluster.Nodes() {
		state.Nodes = append(state.Nodes, Node{
			Name: n.Name, Address: n.Address, PID: n.PID, Log: n.Log, Alive: true,
		})
	}
	state.Phase = PhaseUp
	if err := k.folder.describe(state.Name, o, bed); err != nil {
		return err
	}
	if err := k.folder.save(state); err != nil {
		return err
	}
	var injector system.Injector
	if o.Injector != nil {
		injector = o.Injector(bed)
	}
	control, err := k.folder.control(&state, bed.cluster, injector)
	if err != nil {
		return err
	}
	k.say(answer{Ready: true})
	k.await(ctx, control.look)
	control.close()
	state.Phase = PhaseStopping
	// An error does not matter: the directory is removed next.
	_ = k.folder.save(state)
	return nil
}

// await returns when the testbed must end. Meanwhile it looks at the servers.
func (k *keeper) await(ctx context.Context, look func()) {
	released := k.released
	ticker := time.NewTicker(vanishPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-released:
			released = nil
			k.mu.Lock()
			k.answers.Close()
			k.answers = nil
			k.mu.Unlock()
		case <-ticker.C:
			_, err := os.Stat(filepath.Join(k.folder.dir, lockName))
			if errors.Is(err, os.ErrNotExist) {
				return
			}
			look()
		}
	}
}
