package system

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/target"
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
	Doc     string   // one sentence: what it shapes
}

// Settings holds a value for every setting that a system declares.
type Settings struct {
	values map[string]string
	names  []string
}

// Resolve lays the given settings over the declared defaults. The error is a
// strict.Violations that names every unknown setting and bad value at once.
func Resolve(declared []Setting, given []target.Setting) (Settings, error) {
	s := Settings{values: make(map[string]string, len(declared))}
	kinds := make(map[string]Setting, len(declared))
	for _, d := range declared {
		s.names = append(s.names, d.Name)
		s.values[d.Name] = d.Default
		kinds[d.Name] = d
	}
	var bad strict.Violations
	for _, g := range given {
		d, known := kinds[g.Name]
		if !known {
			bad = append(bad, violation(g, unknownSetting(g.Name, s.names)))
			continue
		}
		if err := d.check(g.Value); err != nil {
			bad = append(bad, violation(g, fmt.Sprintf("setting %q: %v", g.Name, err)))
			continue
		}
		s.values[g.Name] = g.Value
	}
	if len(bad) > 0 {
		return Settings{}, bad
	}
	return s, nil
}

func violation(g target.Setting, message string) strict.Violation {
	return strict.Violation{File: g.At.File, Line: g.At.Line, Column: g.At.Column, Excerpt: g.At.Excerpt, Message: message}
}

func unknownSetting(name string, valid []string) string {
	if near := strict.Nearest(name, valid); near != "" {
		return fmt.Sprintf("unknown setting %q: did you mean %q?", name, near)
	}
	return fmt.Sprintf("unknown setting %q: the settings are %s", name, strings.Join(valid, ", "))
}

func (d Setting) check(value string) error {
	var err error
	switch d.Kind {
	case Bool:
		if value != "true" && value != "false" {
			err = fmt.Errorf("%q is not true or false", value)
		}
	case Count:
		_, err = quantity.ParseCount(value)
	case Bytes:
		_, err = quantity.ParseBytes(value)
	case Duration:
		_, err = quantity.ParseDuration(value)
	case Rate:
		_, err = quantity.ParseRate(value)
	case Number:
		if _, bad := strconv.ParseFloat(value, 64); bad != nil {
			err = fmt.Errorf("%q is not a number", value)
		}
	case Text:
		err = d.checkText(value)
	}
	return err
}

func (d Setting) checkText(value string) error {
	if len(d.OneOf) == 0 {
		return nil
	}
	for _, ok := range d.OneOf {
		if value == ok {
			return nil
		}
	}
	return fmt.Errorf("%q is not one of %s", value, strings.Join(d.OneOf, ", "))
}

// All returns name and value of every setting, in the declared order.
func (s Settings) All() []target.Setting {
	all := make([]target.Setting, 0, len(s.names))
	for _, name := range s.names {
		all = append(all, target.Setting{Name: name, Value: s.values[name]})
	}
	return all
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
