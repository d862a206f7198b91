package observe

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The tracepoints of the counted system calls.
var (
	syncCalls    = []string{"sys_enter_fsync", "sys_enter_fdatasync"}
	mapSyncCalls = []string{"sys_enter_msync"}
)

// syncs counts the system calls that wait for the disk. Each core has one buffer. The kernel
// writes a record with the caller into it at each such call. Between these calls nothing
// happens, and new threads and processes are covered without any work.
type syncs struct {
	fds      []int // of the events
	rings    []ring
	mapSyncs map[uint64]bool     // by event: true for msync, false for fsync and fdatasync
	counted  map[uint32]*process // by process number
	// descended are the processes of counted that descend from another one of it.
	descended []uint32
}

const (
	// ringMax holds 21,800 calls of one core between two readings. With its first page,
	// it is also the most that the kernel lets a user lock for each core.
	ringMax = 512 << 10
	// ringsMax bounds the buffers of all cores together, in bytes.
	ringsMax = 64 << 20
)

var errNoTracepoints = errors.New("this kernel has no tracepoints of system calls")

// newSyncs starts to count for the processes. Where that is impossible, it returns nil and
// notes why.
func newSyncs(processes []*process, notes *methods) *syncs {
	s := &syncs{mapSyncs: map[uint64]bool{}, counted: map[uint32]*process{}}
	for _, p := range processes {
		s.counted[uint32(p.PID)] = p
	}
	err := s.open()
	if err == nil {
		notes.add("fsync, fdatasync and msync calls are counted as they are made, " +
			"by tracepoints of the kernel (perf_event_open).")
		return s
	}
	_ = s.close()
	if errors.Is(err, os.ErrPermission) {
		notes.add("fsync, fdatasync and msync calls are not counted: " +
			"run as root, or with CAP_PERFMON and readable tracefs.")
	} else {
		notes.add("fsync, fdatasync and msync calls are not counted: %v.", err)
	}
	return nil
}

// open opens the events on every core.
func (s *syncs) open() error {
	cores, err := onlineCores()
	if err != nil {
		return err
	}
	ids, err := traceIDs(append(append([]string{}, syncCalls...), mapSyncCalls...))
	if err != nil {
		return err
	}
	for _, core := range cores {
		if err := s.openOn(core, len(cores), ids); err != nil {
			return fmt.Errorf("open a counter on core %d: %w", core, err)
		}
	}
	return nil
}

// openOn opens the events on one core. All of them write to the buffer of the first.
func (s *syncs) openOn(core, cores int, ids []uint64) error {
	first := -1
	for i, id := range ids {
		fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{
			Type: unix.PERF_TYPE_TRACEPOINT, Size: unix.PERF_ATTR_SIZE_VER1, Config: id,
			Sample: 1, Sample_type: unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_TID,
		}, -1, core, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ENODEV) {
			return nil // the core is offline now
		}
		if err != nil {
			return err
		}
		s.fds = append(s.fds, fd)
		var event uint64
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd),
			uintptr(unix.PERF_EVENT_IOC_ID), uintptr(unsafe.Pointer(&event)))
		if errno != 0 {
			return errno
		}
		s.mapSyncs[event] = i >= len(syncCalls)
		if first >= 0 {
			if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, first); err != nil {
				return err
			}
			continue
		}
		first = fd
		r, err := newRing(fd, ringBytes(cores))
		if err != nil {
			return err
		}
		s.rings = append(s.rings, r)
	}
	return nil
}

// ringBytes returns the size of each core's buffer, a power of two.
func ringBytes(cores int) int {
	size := ringMax
	for size > os.Getpagesize() && size*cores > ringsMax {
		size /= 2
	}
	return max(size, os.Getpagesize())
}

// add starts to count for another process.
func (s *syncs) add(p *process) {
	if s != nil {
		s.counted[uint32(p.PID)] = p
	}
}

// forget stops counting for a process.
func (s *syncs) forget(p *process) {
	if s != nil {
		delete(s.counted, uint32(p.PID))
	}
}

// addDescendant counts the calls of a process that descends from p for p.
func (s *syncs) addDescendant(pid int, p *process) {
	if s != nil && s.counted[uint32(pid)] == nil {
		s.counted[uint32(pid)] = p
		s.descended = append(s.descended, uint32(pid))
	}
}

// forgetDescendants stops counting for descendants, until they are added again. It is called
// after a reading, so the calls up to the end of a descendant are counted.
func (s *syncs) forgetDescendants() {
	if s == nil {
		return
	}
	for _, pid := range s.descended {
		delete(s.counted, pid)
	}
	s.descended = s.descended[:0]
}

// read adds the calls since the last reading to their processes.
func (s *syncs) read(notes *methods) {
	if s == nil {
		return
	}
	lost := false
	for _, r := range s.rings {
		lost = r.drain(s.count) || lost
	}
	if lost {
		notes.add("Some fsync, fdatasync or msync calls came faster than they could be " +
			"counted: the counts are too low.")
	}
}

// count adds one call to its process.
func (s *syncs) count(event uint64, pid uint32) {
	p := s.counted[pid]
	switch {
	case p == nil:
	case s.mapSyncs[event]:
		p.mapSyncs++
	default:
		p.syncs++
	}
}

func (s *syncs) close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, r := range s.rings {
		errs = append(errs, r.close())
	}
	for _, fd := range s.fds {
		errs = append(errs, unix.Close(fd))
	}
	s.rings, s.fds = nil, nil
	return errors.Join(errs...)
}

// onlineCores returns the numbers of the online cores.
func onlineCores() ([]int, error) {
	raw, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("read which cores are online: %w", err)
	}
	return parseCores(strings.TrimSpace(string(raw)))
}

// parseCores parses a list such as 0-3,8.
func parseCores(list string) ([]int, error) {
	const most = 1 << 16
	var cores []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if errors.Join(err, err2) != nil || first < 0 || last < first || last >= most {
			return nil, fmt.Errorf("the kernel's list of cores %q is malformed", list)
		}
		for core := first; core <= last; core++ {
			cores = append(cores, core)
		}
	}
	return cores, nil
}
