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

// stateVersion must change when readers of the state must change.
const stateVersion = 1

// Phase is a phase of a detached testbed's life.
type Phase string

// The phases, in their order.
const (
	PhaseStarting Phase = "starting"
	PhaseUp       Phase = "up"
	PhaseStopping Phase = "stopping"
)

// State describes a detached testbed. Its owner keeps it in a file.
type State struct {
	Version    int       `json:"version"`
	Name       string    `json:"name"`
	System     string    `json:"system"`
	Phase      Phase     `json:"state"`
	PID        int       `json:"pid"` // of the owner
	Durability int       `json:"durability"`
	StartedAt  time.Time `json:"started_at"`
	Nodes      []Node    `json:"nodes"`
	// Warmed says how the servers were warmed up before the testbed was up; nil: they were not.
	Warmed *result.Warming `json:"warmed,omitempty"`
	// Hosted: the nodes run on other machines, and Alive is what the owner knows.
	Hosted bool `json:"hosted,omitempty"`
	// Target is the path of the target that plimsoll run reads.
	Target string `json:"target"`
	// Dir is the testbed's directory.
	Dir string `json:"dir"`
}

// Node is one server of a testbed.
type Node struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	PID     int    `json:"pid"`
	Log     string `json:"log"`
	// Alive and RSSBytes are filled in by each reader of the state, unless it is hosted.
	Alive    bool  `json:"alive"`
	RSSBytes int64 `json:"rss_bytes,omitempty"` // 0: unknown
}

// save writes the state to the folder.
func (r *folder) save(s State) error {
	return result.ReplaceDocument(filepath.Join(r.dir, stateName), s)
}

// readState reads the state in a directory. It returns os.ErrNotExist for a directory
// without a detached testbed.
func readState(dir string) (State, error) {
	path := filepath.Join(dir, stateName)
	raw, err := os.ReadFile(path)
	if err != nil {
		return State{}, err
	}
	var s State
	if err := json.Unmarshal(raw, &s); err != nil {
		return State{}, fmt.Errorf("%s is damaged: end the process that holds %s, "+
			"and remove the folder: %w", path, filepath.Join(dir, lockName), err)
	}
	if s.Version != stateVersion {
		return State{}, fmt.Errorf("%s has version %d, this plimsoll reads version %d: "+
			"use the plimsoll that started the testbed", path, s.Version, stateVersion)
	}
	return s, nil
}

// isHeld reports whether a live process holds the directory's lock.
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
