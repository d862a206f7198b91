package driver

import (
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
)

// ServerSettings marks settings as settings of the servers that plimsoll starts.
func ServerSettings(all []system.Setting) []system.Setting {
	for i := range all {
		all[i].Server = true
		all[i].Doc += " (of the servers that plimsoll starts)"
	}
	return all
}

// AlreadyRunning returns a violation for each server setting that a target gives for a
// cluster that runs already.
func AlreadyRunning(s system.Settings, servers []system.Setting) strict.Violations {
	var bad strict.Violations
	for _, d := range servers {
		if s.Given(d.Name) {
			bad = append(bad, s.Wrong(d.Name, "shapes servers that plimsoll starts, and these run "+
				"already: remove it, or remove the endpoints"))
		}
	}
	return bad
}
