// Package fact says in words what is on record of a run: its name, state, load, durability,
// account of messages, clients, warnings and whether it may be ranked.
//
// It promises that what a run does not record is said to be unknown, and that text from systems and
// files is cleaned before it is shown.
//
// It judges nothing: verdicts and warnings are those of internal/verdict. Latencies are in
// internal/report/latency, rows of figures in internal/report/row.
package fact
