package system

import (
	"errors"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Registry is the set of systems that a program knows. It does not change after
// NewRegistry.
type Registry struct {
	systems map[string]System
}

// NewRegistry returns a registry of the systems. It panics when two share a
// name, which only a mistake in this program can cause.
func NewRegistry(systems ...System) *Registry {
	r := &Registry{systems: make(map[string]System, len(systems))}
	for _, s := range systems {
		name := s.Describe().Name
		if _, taken := r.systems[name]; taken {
			panic("system registered twice: " + name)
		}
		r.systems[name] = s
	}
	return r
}

// Names returns the systems' names in alphabetical order.
func (r *Registry) Names() []string {
	names := make([]string, 0, len(r.systems))
	for name := range r.systems {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Get returns the system with a name. Its error suggests the nearest name.
func (r *Registry) Get(name string) (System, error) {
	if s, ok := r.systems[name]; ok {
		return s, nil
	}
	return nil, errors.New(strict.Unknown("system", name, r.Names()))
}
