package testbed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

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
		return fmt.Errorf("reading the request: %w", err)
	}
	k := &keeper{
		room: &room{dir: told.Dir, lock: lock}, answers: answers, released: make(chan struct{}),
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
// that inherited the lock would keep the room alive.
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
	room     *room
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
		return errors.Join(err, k.room.remove())
	}
	state := State{
		Version: stateVersion, Name: told.Name, System: o.System, Phase: PhaseStarting,
		PID: os.Getpid(), Durability: int(o.Provision.Durability),
		StartedAt: time.Now().UTC(), Nodes: []Node{}, Dir: k.room.dir,
		Target: filepath.Join(k.room.dir, targetName),
	}
	if err := k.room.save(state); err != nil {
		return errors.Join(err, k.room.remove())
	}
	k.say(answer{Progress: fmt.Sprintf("starting %s of %d nodes on this machine",
		told.Name, o.Provision.Nodes)})
	bed, err := k.start(ctx, o)
	if err != nil {
		return errors.Join(err, k.room.remove())
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = errors.Join(err, bed.Close(ctx))
	}()
	return k.serve(ctx, bed, o, state)
}

// start starts the cluster in the room.
func (k *keeper) start(ctx context.Context, o Order) (*Testbed, error) {
	o.Provision.LogDir = filepath.Join(k.room.dir, logsName)
	return Options{
		Base: filepath.Dir(filepath.Dir(k.room.dir)), Provisioner: o.Provisioner,
		Provision: o.Provision, NeedBytes: o.NeedBytes, Prepare: o.Prepare,
		Progress: func(sentence string) { k.say(answer{Progress: sentence}) },
	}.startIn(ctx, k.room)
}

// serve announces the running cluster, and serves requests until the testbed must end.
func (k *keeper) serve(ctx context.Context, bed *Testbed, o Order, state State) error {
	for _, n := range bed.cluster.Nodes() {
		state.Nodes = append(state.Nodes, Node{
			Name: n.Name, Address: n.Address, PID: n.PID, Log: n.Log, Alive: true,
		})
	}
	state.Phase = PhaseUp
	if err := k.room.describe(state.Name, o, bed.cluster); err != nil {
		return err
	}
	if err := k.room.save(state); err != nil {
		return err
	}
	var injector system.Injector
	if o.Injector != nil {
		injector = o.Injector(bed)
	}
	control, err := k.room.control(&state, bed.cluster, injector)
	if err != nil {
		return err
	}
	k.say(answer{Ready: true})
	k.await(ctx)
	control.close()
	state.Phase = PhaseStopping
	// An error does not matter: the directory is removed next.
	_ = k.room.save(state)
	return nil
}

// await returns when the testbed must end.
func (k *keeper) await(ctx context.Context) {
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
			_, err := os.Stat(filepath.Join(k.room.dir, lockName))
			if errors.Is(err, os.ErrNotExist) {
				return
			}
		}
	}
}
