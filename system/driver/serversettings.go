package driver

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// ServerSettings marks settings as settings of the servers that plimsoll starts.
func ServerSettings(all []system.Setting) []system.Setting {
	for i := range all {
		all[i].Server = true
	}
	return all
}

// Problems collects the violations of settings.
type Problems struct {
	strict.Violations
	settings system.Settings
}

// CheckRanges returns the settings that are outside their ranges.
func CheckRanges(s system.Settings, declared []system.Setting) *Problems {
	return &Problems{s.OutOfRange(declared), s}
}

// Wrong adds a violation of a setting.
func (p *Problems) Wrong(name, format string, args ...any) {
	p.Violations = append(p.Violations, p.settings.Wrong(name, fmt.Sprintf(format, args...)))
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
