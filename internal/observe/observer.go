package observe

import (
	"fmt"
	"os"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// Check says which of the processes cannot be observed, before anything is
// started.
func Check(processes []target.Process) error {
	for _, p := range processes {
		if p.PID == os.Getpid() {
			return fmt.Errorf("%s cannot be observed: %d is plimsoll itself", p.Name, p.PID)
		}
		if p.Name == result.Self {
			return fmt.Errorf("a server cannot be called %s: that is the name of plimsoll's own process", result.Self)
		}
		if err := exists(p.PID); err != nil {
			return fmt.Errorf("%s cannot be observed: %w", p.Name, err)
		}
	}
	return nil
}

// methods are sentences about how figures were found, each once.
type methods []string

func (m *methods) say(format string, args ...any) {
	if sentence := fmt.Sprintf(format, args...); !slices.Contains(*m, sentence) {
		*m = append(*m, sentence)
	}
}
