package firewall

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// connections are the TCP connections of this machine, with the groups of those
// who have them open, as far as they are among the given ones.
func connections(groups []int) ([]connection, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	owners, err := socketOwners(fs, groups)
	if err != nil {
		return nil, fmt.Errorf("finding whose connections there are: %w", err)
	}
	four, err := fs.NetTCP()
	if err != nil {
		return nil, fmt.Errorf("listing connections: %w", err)
	}
	six, err := fs.NetTCP6() // a server that listens on IPv6 too has its IPv4 connections there
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listing connections: %w", err)
	}
	var all []connection
	for _, line := range slices.Concat(four, six) {
		local, remote := end(line.LocalAddr, line.LocalPort), end(line.RemAddr, line.RemPort)
		if local.Addr().Is4() && remote.Addr().Is4() && remote.Port() != 0 {
			all = append(all, connection{local: local, remote: remote, group: owners[line.Inode]})
		}
	}
	return all, nil
}

func end(ip net.IP, port uint64) netip.AddrPort {
	a, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(a.Unmap(), uint16(port))
}

// socketOwners are the groups of those who have a socket open, by its inode.
func socketOwners(fs procfs.FS, groups []int) (map[uint64]int, error) {
	processes, err := fs.AllProcs()
	if err != nil {
		return nil, err
	}
	owners := map[uint64]int{}
	for _, p := range processes {
		var stat syscall.Stat_t
		// Its folder belongs to the group that it runs under.
		if syscall.Stat("/proc/"+strconv.Itoa(p.PID), &stat) != nil || !slices.Contains(groups, int(stat.Gid)) {
			continue
		}
		open, err := p.FileDescriptorTargets()
		if err != nil {
			continue //nolint:nilerr // it has just ended
		}
		for _, target := range open {
			inode, is := strings.CutPrefix(target, "socket:[")
			if n, err := strconv.ParseUint(strings.TrimSuffix(inode, "]"), 10, 64); is && err == nil {
				owners[n] = int(stat.Gid)
			}
		}
	}
	return owners, nil
}
