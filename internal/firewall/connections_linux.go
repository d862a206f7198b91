package firewall

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// connections lists this machine's TCP connections over IPv4. Each has the group of its
// owner, when that is one of the groups.
func connections(groups []int) ([]connection, error) {
	owners, err := socketOwners(groups)
	if err != nil {
		return nil, fmt.Errorf("find the owners of connections: %w", err)
	}
	var all []connection
	// The IPv4 connections of a server that also listens on IPv6 are in tcp6.
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if errors.Is(err, os.ErrNotExist) {
			continue // no IPv6 here
		}
		if err != nil {
			return nil, fmt.Errorf("list connections: %w", err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Scan() // titles
		for lines.Scan() {
			c, inode, err := readConnection(lines.Text())
			if err != nil {
				return nil, fmt.Errorf("list connections: %s: %w", table, err)
			}
			if c.local.Addr().Is4() && c.remote.Addr().Is4() && c.remote.Port() != 0 {
				c.group = owners[inode]
				all = append(all, c)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("list connections: %w", err)
		}
	}
	return all, nil
}

// readConnection reads a line of /proc/net/tcp; see proc(5).
func readConnection(line string) (c connection, inode string, err error) {
	fields := strings.Fields(line)
	if len(fields) < 10 {
		return c, "", fmt.Errorf("%q is not a connection", line)
	}
	c.local, err = readEnd(fields[1])
	if err == nil {
		c.remote, err = readEnd(fields[2])
	}
	return c, fields[9], err
}

// readEnd reads an address, whose 4-byte words have this machine's byte order, and a port.
func readEnd(raw string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(raw, ":")
	ip, err := hex.DecodeString(host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, err
	}
	for word := range slices.Chunk(ip, 4) {
		if len(word) == 4 {
			binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
		}
	}
	a, ok := netip.AddrFromSlice(ip)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address", raw)
	}
	return netip.AddrPortFrom(a.Unmap(), uint16(n)), nil
}

// socketOwners maps the inode of each open socket to its owner's group, for owners in the
// groups.
func socketOwners(groups []int) (map[string]int, error) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	owners := map[string]int{}
	for _, process := range processes {
		var stat syscall.Stat_t
		// The group of a process' folder is the group that the process runs under.
		if syscall.Stat(process, &stat) != nil || !slices.Contains(groups, int(stat.Gid)) {
			continue
		}
		open, err := filepath.Glob(process + "/fd/*")
		if err != nil {
			return nil, err
		}
		for _, path := range open {
			target, err := os.Readlink(path)
			if inode, is := strings.CutPrefix(target, "socket:["); err == nil && is {
				owners[strings.TrimSuffix(inode, "]")] = int(stat.Gid)
			}
		}
	}
	return owners, nil
}
