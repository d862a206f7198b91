package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// keyFlags are the flags that set keys in the text of a workload.
type keyFlags struct {
	Size       *string  `placeholder:"2KB" help:"Payload of a message, instead of the workload's: a size, or a range 100B..64KB."`
	Partitions *string  `placeholder:"N" help:"Partitions of each topic, instead of the workload's."`
	Producers  *string  `placeholder:"N" help:"Producers of each topic, instead of the workload's."`
	Consumers  *string  `placeholder:"N" help:"Consumers that share each subscription, instead of the workload's."`
	Keys       *string  `placeholder:"KIND" help:"How messages are keyed, instead of the workload's keys: none, round_robin, random or zipf; --set keys.count=N says how many keys there are."`
	Set        []string `sep:"none" placeholder:"KEY=VALUE" help:"Set a key of the workload (plimsoll workloads --keys): message.incompressible=0%; may be repeated."`
}

// setting is a flag that was given and a key of the workload that it sets.
type setting struct {
	flag string // as it was given: --size 2KB
	key  string
	pair strict.Pair // what it sets in the text, if it does so there
}

// settings returns the flags that were given and set keys in the text.
func (f *keyFlags) settings() (all []setting) {
	for _, one := range []struct {
		name, key string
		value     *string
	}{{"--size", "message.size", f.Size}, {"--partitions", "partitions", f.Partitions},
		{"--producers", "producers", f.Producers}, {"--consumers", "consumers", f.Consumers}} {
		if one.value != nil {
			all = append(all, setting{one.name + " " + *one.value, one.key,
				strict.Pair{Name: one.key, Value: *one.value}})
		}
	}
	if f.Keys != nil {
		all = append(all, setting{"--keys " + *f.Keys, "keys.kind",
			strict.Pair{Name: "keys", Value: "{kind: " + *f.Keys + "}"}})
	}
	for _, text := range f.Set {
		key, value, _ := strings.Cut(text, "=")
		key = strings.TrimSpace(key)
		all = append(all, setting{"--set " + text, key, strict.Pair{Name: key, Value: value}})
	}
	return all
}

// check refuses a flag that cannot set a key.
func (s setting) check() error {
	switch {
	case s.key == "" || strings.TrimSpace(s.pair.Value) == "":
		return errors.New("is not a key and its value: write it like message.size=2KB")
	case strings.HasPrefix(s.key, "settings."):
		return errors.New("is a setting of the target: write it in the target's file, or vary it " +
			"with plimsoll sweep")
	}
	return nil
}

// flagKeys returns the keys that all flags set.
func (in *inputs) flagKeys() (all []setting) {
	add := func(given bool, flag string, keys ...string) {
		for _, key := range keys {
			if given {
				all = append(all, setting{flag: flag, key: key})
			}
		}
	}
	add(in.Rate != nil, "--rate", "load.rate", "load.steps", "load.ramp", "load.closed")
	add(in.Duration != nil, "--duration", "duration")
	add(in.Warmup != nil, "--warmup", "warmup")
	add(in.Durability != nil, "--durability", "durability")
	add(in.Clients != nil, "--clients", "clients")
	add(in.Seed != nil, "--seed", "seed")
	add(len(in.Fault) > 0, "--fault", "faults")
	return append(all, in.settings()...)
}

// clashes returns a violation for each two flags that set the same key.
func (in *inputs) clashes() (bad strict.Violations) {
	all := in.flagKeys()
	for i, one := range all {
		for _, other := range all[:i] {
			if one.flag != other.flag && overlap(one.key, other.key) {
				bad = append(bad, strict.Violation{File: one.flag,
					Message: fmt.Sprintf("%s sets %s already: keep one", other.flag, one.key)})
			}
		}
	}
	return bad
}

// overlap reports whether one of two keys is the other one or lies within it.
func overlap(a, b string) bool {
	return strict.Within(a, b) || strict.Within(b, a)
}

// set returns the workload of a YAML text with the values of the given flags, and the changed text.
func (in *inputs) set(text string, given []setting) (w *workload.Workload, changed string,
	err error) {
	bad := in.clashes()
	for _, s := range given {
		bad = append(bad, strict.Under(s.flag, s.check())...)
	}
	if len(bad) > 0 {
		return nil, "", bad
	}
	if w, changed, err = in.with(text, given); err == nil {
		return w, changed, nil
	}
	var kept []setting
	for range 2 { // a flag may need a later one
		var left []setting
		for _, s := range given {
			more := append(slices.Clone(kept), s)
			if _, _, err := in.with(text, more); err == nil {
				kept = more
			} else {
				left = append(left, s)
			}
		}
		given = left
	}
	for _, s := range given {
		_, _, alone := in.with(text, append(slices.Clone(kept), s))
		bad = append(bad, strict.Under(s.flag, alone)...)
	}
	if len(bad) == 0 { // it depends on the order
		bad = strict.Under("--set", err)
	}
	return nil, "", bad
}

// with returns the workload of a YAML text with some settings, and the changed text.
func (in *inputs) with(text string, some []setting) (*workload.Workload, string, error) {
	var pairs strict.Pairs
	for _, s := range some {
		pairs = append(pairs, s.pair)
	}
	changed, err := strict.SetAll([]byte(text), pairs)
	if err != nil {
		return nil, "", err
	}
	w, err := workload.Parse(in.Workload, []byte(changed))
	return w, changed, err
}
