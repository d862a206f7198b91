package observe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket is the kernel's description of a TCP connection.
type socket struct {
	cookie   uint64 // identifies the connection, and is never used again
	inode    uint32 // of the open socket; 0: no process has it open
	local    bool   // both addresses are of this machine
	sent     uint64 // bytes of payload without retransmissions
	received uint64 // bytes of payload
}

// diagnosis asks the kernel for its TCP connections; see sock_diag(7).
type diagnosis struct {
	fd       int
	sequence uint32
	buffer   []byte
}

// The request and the offsets in it and in answers; see linux/inet_diag.h. This request covers all
// address families. The newer SOCK_DIAG_BY_FAMILY covers one, and for each request the kernel goes
// through its whole table of connections.
const (
	diagAllFamilies = 18 // TCPDIAG_GETSOCK
	diagRequest     = 60 // bytes of inet_diag_req
	diagExtensions  = 3
	diagStates      = 52

	diagAnswer = 72 // bytes of inet_diag_msg
	diagState  = 1
	diagSource = 8
	diagTarget = 24
	diagCookie = 44
	diagInode  = 68
	diagInfo   = 2 // INET_DIAG_INFO, the attribute that holds a tcp_info
)

// The states of connections that may carry bytes, by their numbers in net/tcp_states.h.
// TIME_WAIT is left out: there may be many such connections, and they carry nothing.
const (
	tcpEstablished = 1
	tcpFinWait1    = 4
	tcpFinWait2    = 5
	tcpCloseWait   = 8
	tcpLastAck     = 9
	tcpClosing     = 11

	carrying = 1<<tcpEstablished | 1<<tcpFinWait1 | 1<<tcpFinWait2 |
		1<<tcpCloseWait | 1<<tcpLastAck | 1<<tcpClosing
)

// diagnosisTimeout bounds the wait for an answer, which usually comes at once.
var diagnosisTimeout = unix.Timeval{Sec: 1}

func newDiagnosis() (*diagnosis, error) {
	const failed = "ask the kernel for connections: %w"
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC,
		unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf(failed, err)
	}
	err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &diagnosisTimeout)
	if err != nil {
		return nil, errors.Join(fmt.Errorf(failed, err), unix.Close(fd))
	}
	return &diagnosis{fd: fd, buffer: make([]byte, 64<<10)}, nil
}

func (d *diagnosis) close() error { return unix.Close(d.fd) }

// each calls f for every connection.
func (d *diagnosis) each(f func(socket)) error {
	d.sequence++
	request := d.buffer[:unix.NLMSG_HDRLEN+diagRequest]
	clear(request)
	order := binary.NativeEndian
	order.PutUint32(request, uint32(len(request)))
	order.PutUint16(request[4:], diagAllFamilies)
	order.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	order.PutUint32(request[8:], d.sequence)
	body := request[unix.NLMSG_HDRLEN:]
	body[diagExtensions] = 1 << (diagInfo - 1)
	order.PutUint32(body[diagStates:], carrying)
	to := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	if err := unix.Sendto(d.fd, request, 0, to); err != nil {
		return fmt.Errorf("ask the kernel for connections: %w", err)
	}
	for {
		n, _, err := unix.Recvfrom(d.fd, d.buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("ask the kernel for connections: %w", err)
		}
		done, err := parseMessages(d.buffer[:n], d.sequence, f)
		if done || err != nil {
			return err
		}
	}
}

// parseMessages reads the messages of one datagram. done is true after the last message of
// an answer.
func parseMessages(raw []byte, sequence uint32, f func(socket)) (done bool, err error) {
	order := binary.NativeEndian
	for len(raw) >= unix.NLMSG_HDRLEN {
		length, kind := int(order.Uint32(raw)), order.Uint16(raw[4:])
		if length < unix.NLMSG_HDRLEN || length > len(raw) {
			return true, errors.New("ask the kernel for connections: the answer is cut off")
		}
		body := raw[unix.NLMSG_HDRLEN:length]
		ours := order.Uint32(raw[8:]) == sequence
		switch {
		case !ours: // the answer to an earlier request that timed out
		case kind == unix.NLMSG_DONE:
			return true, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			errno := unix.Errno(-int32(order.Uint32(body)))
			return true, fmt.Errorf("ask the kernel for connections: %w", errno)
		case len(body) >= diagAnswer:
			s, ok := parseSocket(body)
			if ok {
				f(s)
			} else if body[diagState] == tcpEstablished {
				return true, errNoBytes
			}
		}
		raw = raw[min(align4(length), len(raw)):]
	}
	return false, nil
}

var errNoBytes = errors.New(
	"this kernel does not count the bytes of a connection: use Linux 4.19 or later")

// parseSocket reads one connection. ok is false when the answer has no byte counts, as for a
// half-closed connection that no process has open.
func parseSocket(body []byte) (s socket, ok bool) {
	order := binary.NativeEndian
	s = socket{
		cookie: order.Uint64(body[diagCookie:]), inode: order.Uint32(body[diagInode:]),
		local: withinMachine(body[0], body[diagSource:diagTarget], body[diagTarget:diagTarget+16]),
	}
	const (
		received = int(unsafe.Offsetof(unix.TCPInfo{}.Bytes_received))
		sent     = int(unsafe.Offsetof(unix.TCPInfo{}.Bytes_sent))
		again    = int(unsafe.Offsetof(unix.TCPInfo{}.Bytes_retrans))
		header   = 4 // of an attribute: its length and kind
	)
	for rest := body[diagAnswer:]; len(rest) >= header; {
		length, kind := int(order.Uint16(rest)), order.Uint16(rest[2:])
		if length < header || length > len(rest) {
			return s, false
		}
		if info := rest[header:length]; kind == diagInfo && len(info) >= again+8 {
			s.received = order.Uint64(info[received:])
			s.sent = since(order.Uint64(info[sent:]), order.Uint64(info[again:]))
			return s, true
		}
		rest = rest[min(align4(length), len(rest)):]
	}
	return s, false
}

// align4 rounds up to a multiple of 4.
func align4(n int) int { return (n + 3) &^ 3 }

// withinMachine reports whether both ends of a connection are on this machine.
func withinMachine(family byte, source, target []byte) bool {
	if family == unix.AF_INET {
		source, target = source[:4], target[:4]
	}
	from, _ := netip.AddrFromSlice(source)
	to, _ := netip.AddrFromSlice(target)
	return from == to || from.Unmap().IsLoopback() && to.Unmap().IsLoopback()
}
