package observe

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// network counts the bytes of the processes' TCP connections. The kernel knows
// connections by their cookie, and who has one open only by the names of a
// process's open files; those are read again when there is a connection that
// has not been looked for.
type network struct {
	ask       *diagnosis
	processes []*process
	known     map[uint64]*connection // by cookie
	owners    map[uint32]*process    // by inode, as last looked up
	strange   []socket               // those whose owner is to be looked for
	local     tally                  // received from this machine
	reading   int
	begun     bool // the first reading only says where counting begins
}

// connection is what was last seen of one.
type connection struct {
	owner          *process // nil: none of ours, as far as is known
	looks          int      // how often it was looked for
	sent, received uint64   // what has been counted
	seen           int      // the reading that saw it last
}

const (
	// looksMax is how often a connection's owner is looked for: one that is
	// just being accepted has none yet.
	looksMax = 2
	// connectionsMax and filesMax bound what a reading costs.
	connectionsMax = 50_000
	filesMax       = 20_000
)

var errTooMany = errors.New("too many connections")

// newNetwork starts to count. It is nil, with a sentence, where the kernel does
// not tell.
func newNetwork(processes []*process, said *methods) *network {
	ask, err := newDiagnosis()
	if err != nil {
		said.say("Network bytes are not known: %v.", err)
		return nil
	}
	n := &network{ask: ask, processes: processes, known: map[uint64]*connection{}}
	if err := n.count(said); err != nil {
		said.say("Network bytes are not known: %v.", err)
		_ = n.close()
		return nil
	}
	n.begun = true
	said.say("Network bytes are the payload of TCP connections as the kernel counts it (sock_diag), without headers; of a connection that ends, what it carried since the reading before is missed.")
	return n
}

// add counts for another process too.
func (n *network) add(p *process) {
	if n != nil {
		n.processes = append(n.processes, p)
	}
}

// read adds what was carried since the last reading to the processes, and
// returns what they received from this machine.
func (n *network) read(said *methods) *int64 {
	if n == nil || n.ask == nil {
		return nil
	}
	if err := n.count(said); err != nil {
		said.say("Network bytes are not known from some time on: %v.", err)
		for _, p := range n.processes {
			p.hidden = true
		}
		_ = n.close()
		return nil
	}
	return n.local.take()
}

// count looks at every connection.
func (n *network) count(said *methods) error {
	n.reading++
	n.strange = n.strange[:0]
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		if err := n.ask.each(family, n.look); err != nil {
			return err
		}
	}
	if len(n.known) > connectionsMax {
		return fmt.Errorf("%w to look at: more than %d", errTooMany, connectionsMax)
	}
	if len(n.strange) > 0 {
		n.findOwners(said)
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

// look counts what a connection carried, or notes that its owner is to be
// looked for.
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

func (n *network) carried(c *connection, s socket) {
	received := since(s.received, c.received)
	c.owner.sent += tally(since(s.sent, c.sent))
	c.owner.received += tally(received)
	if s.local {
		n.local += tally(received)
	}
	c.sent, c.received = s.sent, s.received
}

// findOwners reads which sockets the processes have open.
func (n *network) findOwners(said *methods) {
	n.owners = map[uint32]*process{}
	for _, p := range n.processes {
		if p.hidden {
			continue
		}
		err := eachSocket(p.PID, func(inode uint32) { n.owners[inode] = p })
		switch {
		case errors.Is(err, os.ErrPermission):
			p.hidden = true
			said.say("Network bytes of %s are not known, because /proc/%d/fd cannot be read: run as root or as its user.", p.Name, p.PID)
		case errors.Is(err, errTooMany):
			p.hidden = true
			said.say("Network bytes of %s are not known: it has more than %d files open.", p.Name, filesMax)
		}
	}
}

// eachSocket calls f for every socket that a process has open. One that has
// ended has none.
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
			continue // closed since
		}
		if inode, isSocket := socketInode(string(link[:size])); isSocket {
			f(inode)
		}
	}
	return nil
}

// socketInode reads what an open socket is called: socket:[12345].
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
