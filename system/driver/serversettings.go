package driver

import (
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
)

// ServerSettings marks settings as those that shape the servers that plimsoll
// starts, and no others.
func ServerSettings(all []system.Setting) []system.Setting {
	for i := range all {
		all[i].Server = true
		all[i].Doc += " (of the servers that plimsoll starts)"
	}
	return all
}

// AlreadyRunning is what is wrong with the settings of a cluster that runs
// already: nothing can shape its servers any more.
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
