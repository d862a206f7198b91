// Package verdict judges a result: pure functions from a saved run to what may be
// believed of it.
//
// It promises that a run can be judged again at any time, also by a newer plimsoll,
// from its directory alone. It measures nothing.
//
// # Stability
//
// Stable is a predicate over a saved run; each clause carries its figures. What counts
// is the growth of everything that was due and has not arrived, never its size, which
// is rate x latency. The growth must exceed 0.25% of the rate, shown at 95%.
//
// # Pulses
//
// Where the number of waiting messages swings by more than 1% of the messages offered
// in the window, a line through it says little (pulse.go). The number does not grow
// when its minimum in the second half of the window is at most that of the first half.
// It grows when its trend is shown to grow, or when troughs and peaks rise from pulse
// to pulse. A window with fewer than three pulses that cannot tell is short: a search
// repeats the trial with a window twice as long, up to eight times the planned length,
// and keeps that length for all later trials.
//
// # The instrument's error
//
// Errors of plimsoll's own are compared with publish latency minus own lag, which no
// lag makes longer (generator.go).
//
// # What was not watched or not recorded
//
// A verdict that could not have been seen broken is unknown. Duplicates and order hold
// only when the consumers stayed open for as long as the system may take to deliver
// again (ledger.watched_ns, system.Redeliverer). In an imported run, zero means
// unknown wherever the other tool did not record a figure. Open and closed loops, and
// imported runs, are never ranked together.
package verdict
