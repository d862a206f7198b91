// Package table has the tables of one run: latency, account of messages, faults, workers, servers'
// gauges, settings, environment and the load generator.
//
// It promises that each table says in its note what it counts, and that what was not measured is
// left out or named as missing.
package table
