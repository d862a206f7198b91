package driver

import (
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Majority is the least number of replicas that is more than half of them.
func Majority(replicas int) int { return replicas/2 + 1 }

// CheckLevel refuses a durability level that does not exist.
func CheckLevel(l workload.Level) strict.Violations {
	if l.Valid() {
		return nil
	}
	return strict.Violations{{
		Message: fmt.Sprintf("durability level %d: the levels are 1 to 4", l),
	}}
}

// ErrNoTopics is the error of reading the durability of nothing.
var ErrNoTopics = errors.New("no topics to read it for")

// Reading collects the facts that live servers report, and compares them with the
// asked level.
type Reading struct {
	Level workload.Level
	facts []system.Fact
}

// Add notes a fact.
func (r *Reading) Add(where, name, value, source string) {
	r.facts = append(r.facts, system.Fact{Where: where, Name: name, Value: value, Source: source})
}

// Contradicts is the error of servers that do not give the level: what the level asks
// for, and what they have.
func (r *Reading) Contradicts(asked, format string, has ...any) error {
	return fmt.Errorf("durability level %d asks for %s, and %w",
		r.Level, asked, fmt.Errorf(format, has...))
}

// Evidence is the result, when nothing contradicted the level.
func (r *Reading) Evidence() system.Evidence {
	return system.Evidence{Level: r.Level, Facts: r.facts}
}
