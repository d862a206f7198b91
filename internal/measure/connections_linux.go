package measure

import (
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// tcpEstablished is TCP_ESTABLISHED of the kernel's net/tcp_states.h.
const tcpEstablished = 1

// ReadConnections asks the kernel for the established TCP connections that this process has made,
// not for those that others have made to it: servers in this process have their own ends. It
// returns nil where the kernel does not tell.
func ReadConnections() Connections {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	all, listening := Connections{}, map[uint16]bool{}
	for _, file := range open {
		fd, err := strconv.Atoi(file.Name())
		if err != nil {
			continue
		}
		here, is := endOf(unix.Getsockname(fd))
		if !is || optionOf(fd, unix.SO_TYPE) != unix.SOCK_STREAM { // TCP, or MPTCP over it
			continue
		}
		if optionOf(fd, unix.SO_ACCEPTCONN) == 1 {
			listening[here.Port()] = true
			continue
		}
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		there, is := endOf(unix.Getpeername(fd))
		if err == nil && is && info.State == tcpEstablished {
			all[[2]netip.AddrPort{here, there}] = struct{}{}
		}
	}
	for ends := range all {
		if listening[ends[0].Port()] {
			delete(all, ends)
		}
	}
	return all
}

func optionOf(fd, option int) int {
	value, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
	if err != nil {
		return -1
	}
	return value
}

// endOf returns the address of one end of a connection; is is false for other files and sockets.
func endOf(at unix.Sockaddr, err error) (end netip.AddrPort, is bool) {
	if err != nil {
		return end, false
	}
	switch a := at.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)), true
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port)), true
	}
	return end, false
}
