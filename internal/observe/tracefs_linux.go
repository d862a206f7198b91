package observe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tracingMounts are the usual mount points of the kernel's tracing directory.
var tracingMounts = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// traceIDs returns the numbers of the named tracepoints of system calls.
func traceIDs(names []string) ([]uint64, error) {
	tracing, err := openTracing()
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(tracing) }()
	ids := make([]uint64, 0, len(names))
	for _, name := range names {
		id, err := traceID(tracing, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// openTracing opens the tracing directory. Where it is not mounted, root can open it without
// a mount point. Then it vanishes when it is closed, or with this process.
func openTracing() (int, error) {
	for _, path := range tracingMounts {
		// Without a mount the directory exists and is empty.
		if _, err := os.Stat(path + "/events"); err == nil {
			return unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		}
	}
	fs, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if errors.Is(err, unix.ENODEV) {
		return -1, errNoTracepoints
	}
	if err != nil {
		return -1, fmt.Errorf("open the tracing directory: %w", err)
	}
	defer func() { _ = unix.Close(fs) }()
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("open the tracing directory: %w", err)
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY)
	if err != nil {
		return -1, fmt.Errorf("open the tracing directory: %w", err)
	}
	return mount, nil
}

// traceID returns the number of one tracepoint.
func traceID(tracing int, name string) (uint64, error) {
	path := "events/syscalls/" + name + "/id"
	fd, err := unix.Openat(tracing, path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return 0, errNoTracepoints
	}
	if err != nil {
		return 0, fmt.Errorf("read the tracepoint %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return 0, fmt.Errorf("read the tracepoint %s: %w", name, err)
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the tracepoint %s: %w", name, err)
	}
	return id, nil
}
