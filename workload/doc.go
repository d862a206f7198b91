// Package workload describes the load to offer: a plain value, parsed from YAML,
// defaulted, validated and printed.
//
// It promises that a Workload returned by Parse or Find satisfies every rule that can
// be checked without a system. Capabilities, settings and levels are checked by the
// system. It holds no behaviour: schedules live in internal/load, guarantees in the
// systems.
//
// Durability is a key of the workload, not of the target: it is the guarantee at which
// targets are compared, so all targets of a command get the same.
package workload
