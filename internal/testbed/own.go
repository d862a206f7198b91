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

// vanishPoll is how often an owner looks whether its directory is still there.
const vanishPoll = time.Second

// hello is what an owner is told by Detach.
type hello struct {
	Dir     string          `json:"dir"`
	Name    string          `json:"name"`
	Request json.RawMessage `json:"request"`
}

// Order is what an owner makes of a request.
type Order struct {
	System      string
	Provisioner system.Provisioner
	Provision   system.Provision // DataDir and LogDir are set by Own
	// Settings are those given for clients; they go into the target.
	Settings  []target.Setting
	NeedBytes int64
	Prepare   Preparation
	// Injector breaks the testbed's servers when Break asks for it; nil: nobody
	// can ask.
	Injector func(*Testbed) system.Injector
}

// Own is the life of a process that Detach starts: it starts the cluster,
// writes down how to reach it, and stops it and removes everything when ctx
// ends, when its directory vanishes, or when who started it ends before having
// released it. It returns when nothing is left.
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
		return fmt.Errorf("reading what to start: %w", err)
	}
	k := &keeper{room: &room{dir: told.Dir, lock: lock}, answers: answers, released: make(chan struct{})}
	go func() {
		// It ends with who started this process, at the latest: then the pipe
		// is closed.
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

// inherited takes over the descriptors that Detach handed down, and keeps them
// from the servers: a server that held the lock would keep the room alive.
func inherited() (lock, answers *os.File, err error) {
	// A process that was started by hand has other things there, if any.
	for fd, kind := range map[int]uint32{lockDescriptor: syscall.S_IFREG, answerDescriptor: syscall.S_IFIFO} {
		var stat syscall.Stat_t
		if err := syscall.Fstat(fd, &stat); err != nil || uint32(stat.Mode)&syscall.S_IFMT != kind {
			return nil, nil, errors.New("this command is plimsoll's own: use plimsoll testbed up")
		}
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(lockDescriptor, lockName), os.NewFile(answerDescriptor, "answers"), nil
}

// keeper owns one testbed.
type keeper struct {
	room     *room
	released chan struct{} // closed when the owner is to live on by itself

	mu      sync.Mutex
	answers *os.File
}

// say tells who started this process; nobody may listen any more.
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

// keep is the testbed from its start to its end.
func (k *keeper) keep(ctx context.Context, told hello, order func([]byte) (Order, error)) (err error) {
	o, err := order(told.Request)
	if err != nil {
		return errors.Join(err, k.room.remove())
	}
	state := State{
		Version: stateVersion, Name: told.Name, System: o.System, Phase: PhaseStarting, PID: os.Getpid(),
		Durability: int(o.Provision.Durability), StartedAt: time.Now().UTC(), Nodes: []Node{}, Dir: k.room.dir,
		Target: filepath.Join(k.room.dir, targetName),
	}
	if err := k.room.save(state); err != nil {
		return errors.Join(err, k.room.remove())
	}
	k.say(answer{Progress: fmt.Sprintf("starting %s of %d nodes on this machine", told.Name, o.Provision.Nodes)})
	base := filepath.Dir(filepath.Dir(k.room.dir))
	o.Provision.LogDir = filepath.Join(k.room.dir, logsName)
	bed, err := Options{
		Base: base, Provisioner: o.Provisioner, Provision: o.Provision, NeedBytes: o.NeedBytes, Prepare: o.Prepare,
		Progress: func(sentence string) { k.say(answer{Progress: sentence}) },
	}.startIn(ctx, k.room)
	if err != nil {
		return errors.Join(err, k.room.remove())
	}
	cluster := bed.cluster
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = errors.Join(err, bed.Close(ctx))
	}()
	for _, n := range cluster.Nodes() {
		state.Nodes = append(state.Nodes, Node{Name: n.Name, Address: n.Address, PID: n.PID, Log: n.Log, Alive: true})
	}
	state.Phase = PhaseUp
	if err := k.room.describe(told.Name, o, cluster); err != nil {
		return err
	}
	if err := k.room.save(state); err != nil {
		return err
	}
	var injector system.Injector
	if o.Injector != nil {
		injector = o.Injector(bed)
	}
	control, err := k.room.control(&state, cluster, injector)
	if err != nil {
		return err
	}
	k.say(answer{Ready: true})
	k.await(ctx)
	control.close()
	state.Phase = PhaseStopping
	// The directory may be gone, and then nobody wants to know.
	_ = k.room.save(state)
	return nil
}

// await returns when the testbed is to end.
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
			if _, err := os.Stat(filepath.Join(k.room.dir, lockName)); errors.Is(err, os.ErrNotExist) {
				return
			}
		}
	}
}
