package driver

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Majority returns the size of the smallest majority of n replicas.
func Majority(replicas int) int { return replicas/2 + 1 }

// CheckLevel refuses a durability level that does not exist, or that a system cannot give.
func CheckLevel(of system.Description, l workload.Level) strict.Violations {
	if err := of.RefuseLevel(l); err != nil {
		return strict.Violations{{Message: err.Error()}}
	}
	return nil
}

// Reading collects the facts that live servers report and compares them with the
// durability level.
type Reading struct {
	Level  workload.Level
	facts  []system.Fact
	stated bool
	copies int
}

// Add adds a fact.
func (r *Reading) Add(where, name, value, source string) {
	r.facts = append(r.facts, system.Fact{Where: where, Name: name, Value: value, Source: source})
}

// Copies notes how many copies of its messages a topic has.
func (r *Reading) Copies(n int) {
	if r.copies == 0 || n < r.copies {
		r.copies = n
	}
}

// State adds a fact that decides the level but that the servers do not show: the user or the
// vendor states it.
func (r *Reading) State(where, name, value, source string) {
	r.Add(where, name, value, source)
	r.stated = true
}

// Contradicts returns the error of servers that do not give the level. It names the
// required and the actual value.
func (r *Reading) Contradicts(asked, format string, has ...any) error {
	return fmt.Errorf("durability level %d asks for %s, and %w",
		r.Level, asked, fmt.Errorf(format, has...))
}

// Evidence returns the facts. None of them contradicts the level.
func (r *Reading) Evidence() system.Evidence {
	return system.Evidence{
		Level: r.Level, Facts: r.facts, Stated: r.stated, Copies: r.copies,
	}
}
