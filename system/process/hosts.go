package process

import (
	"fmt"
	"os"
)

// Hosts returns the text of a hosts file (hosts(5)) that names this machine only. It is for
// servers that must not ask the machine's resolver. Java's SASL looks up the name of the
// server's own address for each connection, in a thread that serves other connections too:
// a lost answer of a name server stops them for the resolver's time-out of 5 s. The servers'
// configurations hold addresses only, so they need no resolver.
func Hosts() ([]byte, error) {
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("ask for this machine's name: %w", err)
	}
	return fmt.Appendf(nil, "%s localhost %s\n", loopback, name), nil
}
