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

	"github.com/plimsoll-bench/plimsoll/internal/disk"
	"github.com/plimsoll-bench/plimsoll/internal/firewall"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// Further names in the folder of a testbed that is prepared for faults.
	imagesName   = "images"
	firewallName = "firewall"

	// Each testbed draws a place, which is groupsEach consecutive group numbers from
	// firstGroup to lastGroup. By default neither systemd nor SSSD use that range. Two
	// testbeds must not share a group, because a partition of one would cut connections
	// of the other. With groupPlaces places, two testbeds draw the same one once in half
	// a million times.
	firstGroup  = 2_000_200_192
	groupsEach  = 256
	groupPlaces = 1 << 19
	lastGroup   = firstGroup + groupsEach*groupPlaces - 1
	// leastDiskBytes is the size of a node's disk when the expected data is smaller or
	// unknown. It has room for what servers allocate ahead.
	leastDiskBytes = 4 << 30
	// diskMargin is the size of each node's disk in multiples of the data that all nodes
	// are expected to write, because the nodes may share it unevenly. Only written data
	// takes up room.
	diskMargin = 2
)

// Preparation lists what must be done before servers start, so that faults can be injected
// later.
type Preparation struct {
	// Disks gives each node a disk of its own.
	Disks bool
	// Groups gives each node's processes a user group of their own, by which a firewall
	// distinguishes the nodes.
	Groups bool
}

// prepared holds the disks and groups of nodes by their names.
type prepared struct {
	disks  map[string]*disk.Disk
	groups map[string]int
}

// prepare makes the disks and chooses the groups. Also after an error, the folder's removal
// removes what it made. A host makes a disk for each node of the cluster, since only the start
// shows which are its own: what is not written takes no room.
func (o Options) prepare(ctx context.Context, r *folder, p *system.Provision) (prepared, error) {
	made := prepared{disks: map[string]*disk.Disk{}, groups: p.Groups}
	if o.Prepare == (Preparation{}) {
		return made, nil
	}
	names := o.Provisioner.NodeNames(*p)
	if len(names) == 0 {
		return made, errors.New("the servers run in one process and cannot be prepared " +
			"for faults one by one: choose a target whose servers are processes")
	}
	if o.Prepare.Groups && p.Groups == nil {
		p.Groups = drawGroups(names)
		made.groups = p.Groups
	}
	if !o.Prepare.Disks || o.Hosts != nil {
		return made, nil
	}
	all, failed := driver.AskAll(len(names), func(i int) (*disk.Disk, error) {
		return disk.Make(ctx, filepath.Join(r.dir, imagesName, names[i]+".img"),
			filepath.Join(r.data(), names[i]), max(leastDiskBytes, diskMargin*o.NeedBytes))
	})
	if err := errors.Join(failed...); err != nil {
		return made, err
	}
	for i, name := range names {
		made.disks[name] = all[i]
	}
	return made, nil
}

// drawGroups gives each node a group that no other testbed is likely to have.
func drawGroups(names []string) map[string]int {
	all := make(map[string]int, len(names))
	first := firstGroup + groupsEach*rand.IntN(groupPlaces)
	for i, name := range names {
		all[name] = first + i
	}
	return all
}

// CheckGroup refuses a group that no testbed gives to a node.
func CheckGroup(group int) error {
	if group < firstGroup || group > lastGroup {
		return fmt.Errorf("%d is no group of a testbed's node", group)
	}
	return nil
}

// ErrNoGroups is wrapped by the error of CheckGroups about too few groups.
var ErrNoGroups = errors.New("this user namespace has too few groups")

// CheckGroups returns an error when processes on this machine cannot get groups of their
// own.
func CheckGroups() error {
	raw, err := os.ReadFile("/proc/self/gid_map")
	if errors.Is(err, os.ErrNotExist) {
		return nil // a kernel without user namespaces
	}
	if err != nil {
		return fmt.Errorf("read the groups of this user namespace: %w", err)
	}
	if mapsGroups(string(raw)) {
		return nil
	}
	return fmt.Errorf("%w: it lacks %d to %d, which distinguish the nodes: "+
		"run plimsoll outside of the namespace, or map them", ErrNoGroups, firstGroup, lastGroup)
}

// mapsGroups reports whether a gid_map has all groups that testbeds may use; see
// user_namespaces(7).
func mapsGroups(table string) bool {
	for line := range strings.Lines(table) {
		var inside, outside, count int64
		_, err := fmt.Sscan(line, &inside, &outside, &count)
		if err == nil && inside <= firstGroup && lastGroup < inside+count {
			return true
		}
	}
	return false
}

// sync syncs all disks.
func (p prepared) sync() error {
	for _, d := range p.disks {
		if err := d.Sync(); err != nil {
			return fmt.Errorf("write the servers' first data to disk: %w", err)
		}
	}
	return nil
}

// Sync syncs all data that the nodes have written so far, where they have disks of their
// own. A later power cut keeps that data.
func (t *Testbed) Sync(ctx context.Context) error {
	if t.hosts != nil {
		return t.hosts.Sync(ctx)
	}
	return t.prepared.sync()
}

// Disk returns a node's disk, or nil when it has none on this machine.
func (t *Testbed) Disk(node string) *disk.Disk { return t.prepared.disks[node] }

// Group returns the group of a node's processes, or 0 when the testbed was prepared without
// groups.
func (t *Testbed) Group(node string) int { return t.prepared.groups[node] }

// Firewall returns the name of the firewall table for this testbed. It first writes the name
// to the testbed's directory, so that the removal of the directory also removes the table,
// however this process ends.
func (t *Testbed) Firewall() (table string, err error) {
	table = "plimsoll-" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(t.folder.dir)
	path := filepath.Join(t.folder.dir, firewallName)
	if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
		return "", fmt.Errorf("write the firewall's name: %w", err)
	}
	return table, nil
}

// undo removes what faults and their preparation left on the machine: the mounts below a
// testbed's directory, and its firewall table.
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
