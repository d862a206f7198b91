package system

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Kind is the type of a setting's value.
type Kind string

// The kinds of settings. Values are written as people write them: 64KB, 10ms,
// 200k/s, 1M, 50%.
const (
	Bool     Kind = "bool"
	Count    Kind = "count"
	Bytes    Kind = "bytes"
	Duration Kind = "duration"
	Rate     Kind = "rate"
	Number   Kind = "number"
	Text     Kind = "text"
)

// Setting is an option that a system understands, in its own vocabulary.
type Setting struct {
	Name    string
	Kind    Kind
	Default string
	OneOf   []string // Text only: the values allowed; empty: any
	bounds  bounds   // quantities only: the range allowed
	Doc     string   // one sentence: what it shapes
	// Levels are the durability levels at which it has an effect; empty: at all.
	Levels []workload.Level
	// Server: the setting shapes the servers that plimsoll starts. It has no
	// effect on a cluster that runs already.
	Server bool
}

// Settings holds a value for every setting that a system declares.
type Settings struct {
	declared []Setting
	values   map[string]string
	given    map[string]target.Setting // what the target sets, without the defaults
	aimed    []target.Setting          // defaults of the clients' aim
}

// SettingVersion is the server setting with the version of the servers that plimsoll starts, of
// systems that it can start in several versions.
const SettingVersion = "version"

// Versioned returns the settings with another version. The error is a strict.Violations.
func (s Settings) Versioned(version string) (Settings, error) {
	given := []target.Setting{{Name: SettingVersion, Value: version}}
	for name, g := range s.given {
		if name != SettingVersion {
			given = append(given, g)
		}
	}
	later, err := Resolve(s.declared, given)
	if err != nil {
		return later, err
	}
	return later.with(s.aimed), nil
}

// Resolve combines the given settings with the declared defaults. The error is a strict.Violations
// with every unknown setting and bad value.
func Resolve(declared []Setting, given []target.Setting) (Settings, error) {
	s := Settings{declared: declared, values: make(map[string]string, len(declared)),
		given: make(map[string]target.Setting, len(given))}
	names := make([]string, len(declared))
	kinds := make(map[string]Setting, len(declared))
	for i, d := range declared {
		names[i] = d.Name
		s.values[d.Name] = d.Default
		kinds[d.Name] = d
	}
	var violations strict.Violations
	unshown := map[int]bool{} // lines with an unknown setting, whose value may be a secret
	for _, g := range given {
		d, known := kinds[g.Name]
		if !known {
			unshown[g.At.Line] = true
			violations = append(violations, violation(g, strict.Unknown("setting", g.Name, names)))
			continue
		}
		if err := d.check(g.Value); err != nil {
			violations = append(violations,
				violation(g, fmt.Sprintf("setting %q: %v", g.Name, err)))
			continue
		}
		s.values[g.Name], s.given[g.Name] = g.Value, g
	}
	for i, v := range violations {
		if unshown[v.Line] {
			violations[i].Excerpt = ""
		}
	}
	if len(violations) > 0 {
		return Settings{}, violations
	}
	return s, nil
}

func violation(g target.Setting, message string) strict.Violation {
	return strict.Violation{File: g.At.File, Line: g.At.Line, Column: g.At.Column,
		Excerpt: g.At.Excerpt, Message: message}
}

// Applying returns name and value of every setting that has an effect at a durability level, in
// the declared order. Server settings have none on an external cluster, which runs already.
func (s Settings) Applying(external bool, level workload.Level) []target.Setting {
	var all []target.Setting
	for _, d := range s.declared {
		if (!d.Server || !external) &&
			(len(d.Levels) == 0 || slices.Contains(d.Levels, level)) {
			all = append(all, target.Setting{Name: d.Name, Value: s.values[d.Name]})
		}
	}
	return all
}

// Asked returns the settings that the target sets, without the defaults, by name.
func (s Settings) Asked() []target.Setting {
	return slices.SortedFunc(maps.Values(s.given), func(a, b target.Setting) int {
		return strings.Compare(a.Name, b.Name)
	})
}

// Given reports whether the target gives the setting, even if with the default.
func (s Settings) Given(name string) bool { _, given := s.given[name]; return given }

// Wrong returns a violation by the setting's value, at the place where it is given.
func (s Settings) Wrong(name, message string) strict.Violation {
	return violation(s.given[name], fmt.Sprintf("setting %q: %s", name, message))
}

// Text returns the value as it was written.
func (s Settings) Text(name string) string { return s.values[name] }

// Bool returns a Bool setting.
func (s Settings) Bool(name string) bool { return s.values[name] == "true" }

// Count returns a Count setting.
func (s Settings) Count(name string) int64 { n, _ := quantity.ParseCount(s.values[name]); return n }

// Bytes returns a Bytes setting.
func (s Settings) Bytes(name string) int64 { n, _ := quantity.ParseBytes(s.values[name]); return n }

// Duration returns a Duration setting.
func (s Settings) Duration(name string) time.Duration {
	d, _ := quantity.ParseDuration(s.values[name])
	return d
}

// Rate returns a Rate setting in units per second.
func (s Settings) Rate(name string) float64 { r, _ := quantity.ParseRate(s.values[name]); return r }

// Number returns a Number setting.
func (s Settings) Number(name string) float64 {
	f, _ := strconv.ParseFloat(s.values[name], 64)
	return f
}
