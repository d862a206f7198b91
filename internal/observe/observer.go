package observe

import (
	"fmt"
	"os"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// Check returns an error for a process that cannot be observed. It is called before anything
// starts.
func Check(processes []target.Process) error {
	for _, p := range processes {
		if p.PID == os.Getpid() {
			return fmt.Errorf("%s cannot be observed: %d is plimsoll itself", p.Name, p.PID)
		}
		if p.Name == result.Self {
			return fmt.Errorf("a server cannot be called %s, which is the name of plimsoll's own "+
				"process: choose another name", result.Self)
		}
		if err := exists(p.PID); err != nil {
			return fmt.Errorf("%s cannot be observed: %w", p.Name, err)
		}
	}
	return nil
}

// methods are distinct sentences about how figures were measured, and why some are missing.
type methods []string

// add adds a sentence, unless it is there already.
func (m *methods) add(format string, args ...any) {
	if sentence := fmt.Sprintf(format, args...); !slices.Contains(*m, sentence) {
		*m = append(*m, sentence)
	}
}
