package testbed

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// stateVersion changes when a reader of the state must.
const stateVersion = 1

// Phase is how far a testbed is.
type Phase string

// The phases.
const (
	PhaseStarting Phase = "starting"
	PhaseUp       Phase = "up"
	PhaseStopping Phase = "stopping"
)

// State is what a testbed that stays up says of itself.
type State struct {
	Version    int       `json:"version"`
	Name       string    `json:"name"`
	System     string    `json:"system"`
	Phase      Phase     `json:"state"`
	PID        int       `json:"pid"` // of the process that owns it
	Durability int       `json:"durability"`
	StartedAt  time.Time `json:"started_at"`
	Nodes      []Node    `json:"nodes"`
	// Target is the file that names it to plimsoll run.
	Target string `json:"target"`
	// Dir is the testbed's directory.
	Dir string `json:"dir"`
}

// Node is one of its servers.
type Node struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	PID     int    `json:"pid"`
	Log     string `json:"log"`
	// Alive and RSSBytes are as of now; who reads the state fills them in.
	Alive    bool  `json:"alive"`
	RSSBytes int64 `json:"rss_bytes,omitempty"` // 0: the system does not tell
}

func (r *room) save(s State) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the testbed's state: %w", err)
	}
	return result.ReplaceFile(filepath.Join(r.dir, stateName), append(raw, '\n'))
}

// readState returns what is said in a directory, or os.ErrNotExist when that
// of a testbed that stays up is not there.
func readState(dir string) (State, error) {
	path := filepath.Join(dir, stateName)
	raw, err := os.ReadFile(path)
	if err != nil {
		return State{}, err
	}
	var s State
	if err := json.Unmarshal(raw, &s); err != nil {
		return State{}, fmt.Errorf("%s is damaged: end the process that holds %s, and remove the folder: %w", path, filepath.Join(dir, lockName), err)
	}
	if s.Version != stateVersion {
		return State{}, fmt.Errorf("%s is of version %d and this plimsoll knows %d: use the plimsoll that started it", path, s.Version, stateVersion)
	}
	return s, nil
}

// isHeld says whether a live process owns the directory.
func isHeld(dir string) (bool, error) {
	lock, err := lockFile(filepath.Join(dir, lockName), os.O_RDWR)
	switch {
	case errors.Is(err, errHeld):
		return true, nil
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return false, lock.Close()
}
