package observe

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// network counts the bytes of the processes' TCP connections. The kernel identifies a
// connection by its cookie. The owner of a connection is known only from the names of the
// processes' open files. They are read again when a connection without a known owner
// appears.
type network struct {
	ask       *diagnosis
	processes []*process
	known     map[uint64]*connection // by cookie
	owners    map[uint32]*process    // by inode, as last looked up
	strange   []socket               // connections whose owner must be looked up
	local     tally                  // bytes received from this machine
	reading   int
	begun     bool // false during the first reading, which only sets the start of all counts
}

// connection is the last seen state of a connection.
type connection struct {
	owner          *process // nil: not an observed process, as far as is known
	looks          int      // lookups of its owner
	sent, received uint64   // bytes that are counted already
	seen           int      // the last reading that saw it
}

const (
	// looksMax bounds the lookups of a connection's owner. While a server is accepting a
	// connection, the connection has no owner, so one lookup is not enough.
	looksMax = 2
	// connectionsMax and filesMax bound the cost of a reading.
	connectionsMax = 50_000
	filesMax       = 20_000
)

var errTooMany = errors.New("too many connections")

// newNetwork starts to count. Where the kernel does not count, it returns nil and notes why.
func newNetwork(processes []*process, notes *methods) *network {
	ask, err := newDiagnosis()
	if err != nil {
		notes.add("Network bytes are not known: %v.", err)
		return nil
	}
	n := &network{ask: ask, known: map[uint64]*connection{}}
	for _, p := range processes {
		n.add(p, notes)
	}
	if err := n.count(notes); err != nil {
		notes.add("Network bytes are not known: %v.", err)
		_ = n.close()
		return nil
	}
	n.begun = true
	notes.add("Network bytes are the payload of TCP connections as the kernel counts it " +
		"(sock_diag), without headers; the last bytes of a connection that ends between " +
		"two readings are missing.")
	return n
}

// add starts to count for another process. The kernel shows the connections of this process's own
// network namespace only, so those of a server in another one, such as a container, are unknown.
func (n *network) add(p *process, notes *methods) {
	if n == nil {
		return
	}
	own, _ := os.Readlink("/proc/self/ns/net")
	its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", p.PID))
	if err == nil && its != own {
		p.hidden = true
		notes.add("Network bytes of %s are not known, because it has another network namespace "+
			"than plimsoll.", p.Name)
	}
	n.processes = append(n.processes, p)
}

// read adds the bytes since the last reading to the processes. It returns the bytes that they
// received from this machine.
func (n *network) read(notes *methods) *int64 {
	if n == nil || n.ask == nil {
		return nil
	}
	if err := n.count(notes); err != nil {
		notes.add("Network bytes are not known after an error: %v.", err)
		for _, p := range n.processes {
			p.hidden = true
		}
		_ = n.close()
		return nil
	}
	return n.local.take()
}

// count reads every connection.
func (n *network) count(notes *methods) error {
	n.reading++
	n.strange = n.strange[:0]
	if err := n.ask.each(n.look); err != nil {
		return err
	}
	if len(n.known) > connectionsMax {
		return fmt.Errorf("%w: there are more than %d", errTooMany, connectionsMax)
	}
	if len(n.strange) > 0 {
		n.findOwners(notes)
	}
	for _, s := range n.strange {
		c := n.known[s.cookie]
		c.looks++
		if c.owner = n.owners[s.inode]; c.owner != nil {
			n.carried(c, s)
		}
	}
	for cookie, c := range n.known {
		if c.seen != n.reading {
			delete(n.known, cookie)
		}
	}
	return nil
}

// look counts the new bytes of a connection, or notes that its owner must be looked up.
func (n *network) look(s socket) {
	c := n.known[s.cookie]
	if c == nil {
		if len(n.known) > connectionsMax {
			return
		}
		c = &connection{}
		if !n.begun {
			c.sent, c.received = s.sent, s.received
		}
		n.known[s.cookie] = c
	}
	c.seen = n.reading
	switch {
	case c.owner != nil:
		n.carried(c, s)
	case s.inode != 0 && c.looks < looksMax:
		n.strange = append(n.strange, s)
	}
}

// carried adds the new bytes of a connection to its owner.
func (n *network) carried(c *connection, s socket) {
	received := since(s.received, c.received)
	c.owner.sent += tally(since(s.sent, c.sent))
	c.owner.received += tally(received)
	if s.local {
		n.local += tally(received)
	}
	c.sent, c.received = s.sent, s.received
}

// findOwners reads which sockets each process has open.
func (n *network) findOwners(notes *methods) {
	n.owners = map[uint32]*process{}
	for _, p := range n.processes {
		if p.hidden {
			continue
		}
		owns := func(inode uint32) { n.owners[inode] = p }
		for _, d := range p.descendants {
			_ = eachSocket(d.PID, owns) // it may have ended
		}
		err := eachSocket(p.PID, owns)
		switch {
		case errors.Is(err, os.ErrPermission):
			p.hidden = true
			notes.add("Network bytes of %s are not known, because /proc/%d/fd cannot be read: "+
				"run as root or as its user.", p.Name, p.PID)
		case errors.Is(err, errTooMany):
			p.hidden = true
			notes.add("Network bytes of %s are not known: it has more than %d files open.",
				p.Name, filesMax)
		}
	}
}

// eachSocket calls f for every open socket of a process. An ended process has none.
func eachSocket(pid int, f func(inode uint32)) error {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(filesMax)
	if err != nil {
		return err
	}
	if len(names) == filesMax {
		return errTooMany
	}
	var link [64]byte
	for _, name := range names {
		size, err := unix.Readlinkat(int(dir.Fd()), name, link[:])
		if err != nil {
			continue // closed meanwhile
		}
		if inode, isSocket := socketInode(string(link[:size])); isSocket {
			f(inode)
		}
	}
	return nil
}

// socketInode parses the name of an open socket: socket:[12345].
func socketInode(link string) (uint32, bool) {
	number, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 32)
	return uint32(inode), err == nil
}

func (n *network) close() error {
	if n == nil || n.ask == nil {
		return nil
	}
	err := n.ask.close()
	n.ask = nil
	return err
}
