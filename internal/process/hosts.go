package process

import (
	"fmt"
	"os"
)

// Hosts is a hosts file (hosts(5)) that names this machine and no other, for
// servers that shall not ask the machine's resolver. Java's SASL asks for the
// name of the server's own address with each connection, in the thread that
// serves others too: a name server that does not answer once stops them for the
// resolver's 5 s, and nothing but addresses is in the servers' configurations.
func Hosts() ([]byte, error) {
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("asking for this machine's name: %w", err)
	}
	return fmt.Appendf(nil, "%s localhost %s\n", loopback, name), nil
}
