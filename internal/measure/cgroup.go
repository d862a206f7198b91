package measure

import (
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Allowance is what the control groups of this process allow it, and what that cost. The limits of
// a container are here, and those of a service.
type Allowance struct {
	CPUCores    float64 // 0: there is no limit
	MemoryBytes int64   // 0: there is no limit
	// ThrottledNs is how long threads of the group waited because its limit of CPU was used up,
	// summed over cores, since the group was made.
	ThrottledNs int64
}

// allowances reads the files of this process's control groups, of version 1 and 2. Where there are
// none, nothing is limited.
type allowances struct {
	files       fs.FS
	cpu, memory controlled
}

// controlled are the groups of a controller: the process's own, and those above it.
type controlled struct {
	folders []string
	unified bool // version 2
}

// unlimitedBytes is what version 1 has as the least limit of memory that is none.
const unlimitedBytes = 1 << 60

// Allowed returns what the control groups of this process allow now. files is the root of the file
// system.
func Allowed(files fs.FS) Allowance { return newAllowances(files).read() }

// newAllowances finds the groups of this process. files is the root of the file system.
func newAllowances(files fs.FS) *allowances {
	groups, _ := fs.ReadFile(files, "proc/self/cgroup") // without it nothing is found
	mounts, _ := fs.ReadFile(files, "proc/self/mountinfo")
	find := func(controller string) controlled {
		return findGroups(controller, string(groups), string(mounts))
	}
	return &allowances{files: files, cpu: find("cpu"), memory: find("memory")}
}

// findGroups finds the groups of a controller. A controller belongs to version 2 unless version 1
// has it.
func findGroups(controller, groups, mounts string) (c controlled) {
	place := ""
	for line := range strings.Lines(groups) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, at, _ := strings.Cut(rest, ":")
		if slices.Contains(strings.Split(controllers, ","), controller) {
			place, c.unified = at, false
			break
		}
		if id == "0" && controllers == "" {
			place, c.unified = at, true
		}
	}
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(strings.TrimSpace(line), " - ")
		mounted, kind := strings.Fields(before), strings.Fields(after)
		if len(mounted) < 5 || len(kind) < 3 {
			continue
		}
		if c.unified && kind[0] != "cgroup2" || !c.unified && (kind[0] != "cgroup" ||
			!slices.Contains(strings.Split(kind[2], ","), controller)) {
			continue
		}
		root, point := mounted[3], strings.TrimPrefix(mounted[4], "/")
		below, inside := strings.CutPrefix(place, strings.TrimSuffix(root, "/"))
		if place == "" || !inside || below != "" && below[0] != '/' {
			continue // the mount shows another part of the hierarchy
		}
		// A container may see the path that its group has outside; its own root has its limits.
		for at := path.Join(point, path.Clean("/"+below)); ; at = path.Dir(at) {
			c.folders = append(c.folders, at)
			if at == point || at == "." {
				return c
			}
		}
	}
	return c
}

// read returns the tightest limits of all groups, and the longest throttling.
func (a *allowances) read() (now Allowance) {
	for _, folder := range a.cpu.folders {
		cores, waitedNs := a.cpuOf(folder)
		if cores > 0 {
			now.CPUCores = tighter(now.CPUCores, cores)
			now.ThrottledNs = max(now.ThrottledNs, waitedNs)
		}
	}
	name := "memory.limit_in_bytes"
	if a.memory.unified {
		name = "memory.max"
	}
	for _, folder := range a.memory.folders {
		limit := a.number(path.Join(folder, name))
		if limit > 0 && limit < unlimitedBytes {
			now.MemoryBytes = tighter(now.MemoryBytes, limit)
		}
	}
	return now
}

func tighter[N int64 | float64](limit, other N) N {
	if limit == 0 {
		return other
	}
	return min(limit, other)
}

// cpuOf returns a group's limit, 0 if it has none, and how long it was throttled.
func (a *allowances) cpuOf(folder string) (cores float64, waitedNs int64) {
	var quota, period int64
	key, unit := "throttled_time", int64(1)
	if a.cpu.unified {
		key, unit = "throttled_usec", 1000
		if both := strings.Fields(a.text(path.Join(folder, "cpu.max"))); len(both) == 2 {
			quota, period = positive(both[0]), positive(both[1])
		}
	} else {
		quota = a.number(path.Join(folder, "cpu.cfs_quota_us"))
		period = a.number(path.Join(folder, "cpu.cfs_period_us"))
	}
	if quota <= 0 || period <= 0 {
		return 0, 0
	}
	for line := range strings.Lines(a.text(path.Join(folder, "cpu.stat"))) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name == key {
			waitedNs = min(positive(value), math.MaxInt64/unit) * unit
		}
	}
	return float64(quota) / float64(period), waitedNs
}

func (a *allowances) text(name string) string {
	raw, err := fs.ReadFile(a.files, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

func (a *allowances) number(name string) int64 { return positive(a.text(name)) }

// positive reads a number; 0: it is none, or not positive.
func positive(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}
