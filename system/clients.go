package system

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Aim says what a driver does for a word of a workload's key clients.
type Aim struct {
	Sets []target.Setting // in place of the defaults; the target's own values win
	// How says in the system's own words what the values do, or why there is nothing to set.
	How string
}

// MustSet reads settings written as "linger=0s". It panics when one has no value, because aims are
// part of the program.
func MustSet(pairs ...string) []target.Setting {
	var all []target.Setting
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			panic(fmt.Sprintf("setting %q has no value: write it like linger=0s", pair))
		}
		all = append(all, target.Setting{Name: name, Value: value})
	}
	return all
}

// Wait is a time for which clients or servers wait on purpose, because of a setting.
type Wait struct {
	// Series is the first latency that includes it: result.Publish or result.EndToEnd; empty: no
	// latency includes it.
	Series  result.Series
	Setting string
	// Most returns the longest wait, 0 if there is none; nil: the value of the setting.
	Most func(c Check) time.Duration
	// Words is a sentence with %s for the longest wait: "the client waits up to %s for more
	// messages".
	Words string
}

// Resolve combines the given settings with those of the aim and with the declared defaults, in
// this order of precedence. The error is a strict.Violations.
func (d Description) Resolve(c workload.Clients, given []target.Setting) (Settings, error) {
	s, err := Resolve(d.Settings, given)
	if err != nil {
		return s, err
	}
	return s.with(d.Clients[c.Word()].Sets), nil
}

// with returns the settings with other defaults.
func (s Settings) with(aimed []target.Setting) Settings {
	values := maps.Clone(s.values)
	for _, a := range aimed {
		if !s.Given(a.Name) {
			values[a.Name] = a.Value
		}
	}
	s.values, s.aimed = values, aimed
	return s
}

// Aimed returns the values that the aim has set, and the target's own values that it left.
func (s Settings) Aimed() (set, kept []target.Setting) {
	for _, a := range s.aimed {
		if s.Given(a.Name) {
			kept = append(kept, target.Setting{Name: a.Name, Value: s.values[a.Name]})
		} else {
			set = append(set, a)
		}
	}
	return set, kept
}

// Lingers is the wait of a producer for more messages, which a setting causes.
func Lingers(setting string) Wait {
	return Wait{Series: result.Publish, Setting: setting,
		Words: "the client waits up to %s for more messages"}
}

// WaitsOf returns the waits that the settings of a request cause.
func (d Description) WaitsOf(c Check) []result.Wait {
	effective := map[string]bool{}
	for _, s := range c.Settings.Applying(c.Nodes == 0, c.Durability) {
		effective[s.Name] = true
	}
	var all []result.Wait
	for _, w := range d.Waits {
		most := c.Settings.Duration(w.Setting)
		if w.Most != nil {
			most = w.Most(c)
		}
		if most > 0 && effective[w.Setting] {
			all = append(all, result.Wait{Series: w.Series, MostNs: int64(most), Setting: w.Setting,
				Sentence: fmt.Sprintf(w.Words, quantity.ExactDuration(most)) +
					" (" + w.Setting + ")"})
		}
	}
	return all
}
