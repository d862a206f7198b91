package systems

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

// Every system says what it sets for each aim of the clients, and which waits its settings cause.
func TestEverySystemDeclaresItsClients(t *testing.T) {
	for _, s := range All() {
		t.Run(s.Describe().Name, func(t *testing.T) { systemtest.Clients(t, s) })
	}
}
