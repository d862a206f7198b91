// Package workload is what load to offer: a plain value, parsed from YAML,
// defaulted, validated and printed.
//
// It promises that a Workload returned by Parse or Find satisfies every
// rule that can be checked without a system: the rest (capabilities, settings,
// levels) is the system's to refuse. It holds no behaviour: schedules live in
// internal/load, guarantees in the systems.
package workload
