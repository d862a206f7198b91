// Package verdict judges a saved run: pure functions return verdicts, warnings, the
// effects of faults, and the resource that limited the run.
//
// It promises that a run can be judged again at any time, also by a newer plimsoll,
// from its directory alone. It measures nothing.
//
// # Stability
//
// Stable judges whether the system carried the offered rate; each clause carries its
// figures. It looks at the growth of the number of messages that are due and have not
// arrived, never at that number itself, which is rate x latency. A rate is unstable when
// the growth exceeds 0.25% of the rate with 95% confidence.
//
// # Pulses
//
// If the number of waiting messages swings by more than 1% of the messages offered in the window,
// a straight line through it says little (pulse.go). The number does not grow when its minimum in
// the second half of the window is at most that of the first half. It grows when its trend is
// shown to grow, or when troughs and peaks rise from pulse to pulse. A window is short when it has
// fewer than three pulses and its figures decide nothing: a search repeats the trial with a window
// twice as long, up to eight times the planned length, and keeps that length for all later trials.
//
// # Trends
//
// A window of 30 minutes or more is judged for leaks and drift (drift.go). A figure drifts when
// its slope over blocks exceeds a relevant size, with an error that allows for the correlation of
// its noise, and with 5 false alarms in 100 for all figures together. Growth that has ended, falls
// again, or is explained by the messages is no leak.
//
// # The instrument's error
//
// plimsoll's own error is compared with publish latency minus own lag, which own lag does not
// lengthen, at each percentile by itself: a long tail of the system hides no error of the median
// (ownerror.go).
//
// # Loss
//
// A loss is broken when something shows it: a later message of the partition has passed the missing
// one, an audit has not found it, or the servers no longer have its partition. internal/bench
// decides that when the run ends, because it needs the sets of messages; the ledger has the two
// counts, lost and unread. Unread messages make the verdict unknown, and count in the growth of
// what waits for consumers.
//
// # What was not watched or not recorded
//
// A verdict is unknown when the run could not have shown it broken. Duplicates and order hold only
// if the consumers stayed open for the system's redelivery time (ledger.watched_ns,
// Description.Redelivery). In an imported run, zero means unknown wherever the other tool did not
// record a figure. Open and closed loops, and imported runs, are never ranked together.
package verdict
