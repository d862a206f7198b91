// Package cost answers what a run cost: CPU time, disk, network and memory of its servers and of
// plimsoll, and each of them per message.
//
// The cost is shown only as far as it is known: a figure that one server lacks is left out for the
// whole system, and the resource use of servers inside plimsoll's own process is not divided
// between servers and plimsoll.
package cost
