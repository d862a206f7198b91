package testbed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/plimsoll-bench/plimsoll/internal/disk"
	"github.com/plimsoll-bench/plimsoll/internal/firewall"
	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	// What a room holds besides when its nodes can be cut off.
	imagesName   = "images"
	firewallName = "firewall"

	// Each testbed draws groupsEach numbers of groups from those between
	// firstGroup and lastGroup, where neither systemd nor SSSD give any by
	// default. Two testbeds must not share one: a partition of one would cut
	// connections of the other. Of groupPlaces, two draw the same place once in
	// half a million times.
	firstGroup  = 2_000_200_192
	groupsEach  = 256
	groupPlaces = 1 << 19
	lastGroup   = firstGroup + groupsEach*groupPlaces - 1
	// leastDiskBytes is the size of a node's disk when less is expected to be
	// written, or nobody knows how much: room for what servers allocate ahead.
	leastDiskBytes = 4 << 30
	// diskMargin is how many times what all nodes are expected to write fits
	// on the disk of each, because it may be shared out unevenly. Only what is
	// written takes up room.
	diskMargin = 2
)

// Preparation is what must be done before servers start so that they can be
// broken in certain ways.
type Preparation struct {
	// Disks gives each node a disk of its own.
	Disks bool
	// Groups gives each node's processes a group of their own, by which a
	// firewall tells them apart.
	Groups bool
}

// prepared is a room whose nodes can be cut off.
type prepared struct {
	disks  map[string]*disk.Disk
	groups map[string]int
}

// prepare makes the disks and chooses the groups. What it made is the room's to
// remove, also when it fails.
func (o Options) prepare(ctx context.Context, r *room, p system.Provision) (prepared, error) {
	made := prepared{disks: map[string]*disk.Disk{}, groups: map[string]int{}}
	if o.Prepare == (Preparation{}) {
		return made, nil
	}
	names := o.Provisioner.NodeNames(p)
	if len(names) == 0 {
		return made, errors.New("the servers live in one process and cannot be prepared to be broken one by one")
	}
	if o.Prepare.Groups {
		first := firstGroup + groupsEach*rand.IntN(groupPlaces)
		for i, name := range names {
			made.groups[name] = first + i
		}
	}
	if !o.Prepare.Disks {
		return made, nil
	}
	all, failed := make([]*disk.Disk, len(names)), make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			all[i], failed[i] = disk.Make(ctx, filepath.Join(r.dir, imagesName, name+".img"), filepath.Join(r.data(), name),
				max(leastDiskBytes, diskMargin*o.NeedBytes))
		})
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		return made, err
	}
	for i, name := range names {
		made.disks[name] = all[i]
	}
	return made, nil
}

// ErrNoGroups is what the error of CheckGroups wraps.
var ErrNoGroups = errors.New("this user namespace has too few groups")

// CheckGroups says in a sentence why processes here cannot be given groups of
// their own, or nothing.
func CheckGroups() error {
	raw, err := os.ReadFile("/proc/self/gid_map")
	if errors.Is(err, os.ErrNotExist) {
		return nil // no user namespaces, as far as can be seen
	}
	if err != nil {
		return fmt.Errorf("reading which groups there are: %w", err)
	}
	if mapsGroups(string(raw)) {
		return nil
	}
	return fmt.Errorf("%w: it lacks %d to %d, by which the nodes are told apart: run plimsoll outside of it, or map them", ErrNoGroups, firstGroup, lastGroup)
}

// mapsGroups says whether a gid_map has all that testbeds may take; see
// user_namespaces(7).
func mapsGroups(table string) bool {
	for line := range strings.Lines(table) {
		var inside, outside, count int64
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && inside <= firstGroup && lastGroup < inside+count {
			return true
		}
	}
	return false
}

// sync has what the servers wrote on their disks for good.
func (p prepared) sync() error {
	for _, d := range p.disks {
		if err := d.Sync(); err != nil {
			return fmt.Errorf("writing the servers' first data to disk: %w", err)
		}
	}
	return nil
}

// Sync has all that the nodes wrote so far on their disks for good, where they have
// disks of their own: what was there long before a power cut.
func (t *Testbed) Sync() error { return t.prepared.sync() }

// Disk is the disk of a node; nil when it was not prepared to have one.
func (t *Testbed) Disk(node string) *disk.Disk { return t.prepared.disks[node] }

// Group is the group of a node's processes; 0 when it was not prepared to have
// one.
func (t *Testbed) Group(node string) int { return t.prepared.groups[node] }

// Firewall is the name of a table that keeps this testbed's nodes apart. It is
// written down before it is returned, so that whoever removes the testbed knows
// which table to remove, however this process ends.
func (t *Testbed) Firewall() (table string, err error) {
	table = "plimsoll-" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(t.room.dir)
	if err := os.WriteFile(filepath.Join(t.room.dir, firewallName), []byte(table), 0o600); err != nil {
		return "", fmt.Errorf("writing down a firewall's name: %w", err)
	}
	return table, nil
}

// undo undoes what faults and their preparation did to the machine: mounts
// below a room's directory, and its firewall table.
func undo(dir string) error {
	var released error
	if _, err := os.Stat(filepath.Join(dir, imagesName)); err == nil {
		released = disk.Release(dir)
	}
	table, err := os.ReadFile(filepath.Join(dir, firewallName))
	if errors.Is(err, os.ErrNotExist) || err == nil && len(table) == 0 {
		return released
	}
	if err != nil {
		return errors.Join(released, err)
	}
	return errors.Join(released, firewall.Remove(string(table)))
}
