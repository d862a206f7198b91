package study

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Own is a cluster of the user's that takes the place of a study's target. Its servers run already:
// plimsoll neither configures nor breaks them.
type Own struct {
	Target string `json:"target"` // its name in the study
	File   string `json:"file"`   // as the user named it
	// YAML is the target of the file without settings of servers. It names where secrets are, and
	// holds none.
	YAML string `json:"target_yaml"`
	// Servers has a value for each setting of servers: that of the file, which describes them, or
	// else the default.
	Servers map[string]string `json:"servers,omitempty"`

	target *target.Target
}

// String names the cluster for the readers of results.
func (o Own) String() string {
	t, err := target.Parse(o.File, []byte(o.YAML))
	if err != nil || len(t.Endpoints) == 0 {
		return fmt.Sprintf("%s: the service that %s names", o.Target, o.File)
	}
	return fmt.Sprintf("%s: servers at %s (%s)", o.Target, strings.Join(t.Endpoints, ", "), o.File)
}

// Replace puts clusters of the user's in the place of targets. The error says what to change.
func (s *Study) Replace(own []Own) error {
	var names []string
	for _, t := range s.Targets {
		names = append(names, t.Name)
	}
	s.own = nil
	for _, o := range own {
		of, before := s.target(o.Target), s.ownOf(o.Target)
		switch {
		case of == nil:
			return errors.New(strict.Unknown("target", o.Target, names))
		case before != nil:
			return fmt.Errorf("target %s is replaced twice, by %s and by %s: keep one", o.Target,
				before.File, o.File)
		}
		var err error
		if o.target, err = target.Parse(o.File, []byte(o.YAML)); err != nil {
			return err
		}
		if o.target.System != of.System {
			return fmt.Errorf("target %s of the study is of %s, and %s is of %s: name a cluster "+
				"of %s, or another target of the study", o.Target, of.System, o.File,
				o.target.System, of.System)
		}
		s.own = append(s.own, o)
	}
	slices.SortFunc(s.own, func(a, b Own) int { return strings.Compare(a.Target, b.Target) })
	return nil
}

// ownOf returns the cluster in the place of a target; nil: there is none.
func (s *Study) ownOf(target string) *Own {
	return named(s.own, func(o *Own) bool { return o.Target == target })
}

// sameTargets reports whether two plans replace the same targets by the same clusters.
func (p *Plan) sameTargets(other *Plan) bool {
	return slices.EqualFunc(p.Own, other.Own, func(a, b Own) bool {
		return a.Target == b.Target && a.YAML == b.YAML && maps.Equal(a.Servers, b.Servers)
	})
}

// onTargets says how to go on with a plan on its targets.
func (p *Plan) onTargets() string {
	var flags []string
	for _, o := range p.Own {
		flags = append(flags, fmt.Sprintf("-t %s=%s", o.Target, o.File))
	}
	if len(flags) == 0 {
		return "without -t: leave it out"
	}
	return "on other targets: continue it with " + strings.Join(flags, " ") +
		", and the same content of each file"
}

// at returns the target of a cell with its settings; it has no settings of servers.
func (o *Own) at(settings strict.Pairs) *target.Target {
	t := *o.target
	t.Name = o.Target
	t.Settings = slices.DeleteFunc(t.Settings.With(settings),
		func(p target.Setting) bool { _, is := o.Servers[p.Name]; return is })
	return &t
}

// lacks says what a cell with these settings and this workload needs that servers which plimsoll
// did not start cannot have; empty: nothing.
func (o *Own) lacks(settings strict.Pairs, w *workload.Workload) string {
	if faults := w.ServerFaults(); len(faults) > 0 {
		return fmt.Sprintf("needs servers that get a fault (%s), and plimsoll breaks only servers "+
			"that it starts: leave -t %s out", faults[0].Do, o.Target)
	}
	var missing []string
	for _, p := range settings {
		if has, is := o.Servers[p.Name]; is && has != p.Value {
			missing = append(missing, p.Name+": "+p.Value)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	all := strings.Join(missing, ", ")
	return fmt.Sprintf("needs servers with %s, and plimsoll configures only servers that it "+
		"starts: if yours have it, write settings: {%s} into %s", all, all, o.File)
}
