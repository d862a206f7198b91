//go:build !linux

package observe

import (
	"errors"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// Observer observes nothing on this operating system.
type Observer struct{}

// New returns an Observer.
func New([]target.Process) (*Observer, error) { return &Observer{}, nil }

// Follow does nothing here.
func (o *Observer) Follow(target.Process) error { return nil }

// ServersHave does nothing here.
func (o *Observer) ServersHave([]int) {}

// Read returns no figures.
func (o *Observer) Read() (r result.Resources, ended, back []target.Process) { return r, nil, nil }

// Servers returns nothing: no server is observed.
func (o *Observer) Servers() []string { return nil }

// Methods returns the reason why there are no figures.
func (o *Observer) Methods() []string {
	return []string{"CPU, memory, disks, syncs and network of the servers and " +
		"this machine are measured on Linux only."}
}

// Close does nothing.
func (o *Observer) Close() error { return nil }

// CompilersFirst does nothing here.
func CompilersFirst(...int) (undo func()) { return func() {} }

func exists(int) error {
	return errors.New("processes are observed on Linux only: take them out of the target")
}
