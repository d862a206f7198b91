// Package workload describes the load to offer: a plain value, parsed from YAML,
// defaulted, validated and printed.
//
// It promises that a Workload returned by Parse or Find satisfies every rule that can be
// checked without a system. Systems check capabilities, settings and levels. The package has no
// behaviour: internal/load has the schedules, and the systems have the guarantees.
//
// Durability is a key of the workload, not of the target: it is the guarantee at which
// targets are compared, so all targets of a command get the same.
package workload
