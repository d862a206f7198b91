// Package history shows one figure of many experiments below a folder in order of time: nights,
// commits, versions of the servers.
//
// It promises that a series holds only comparable experiments; that an excluded experiment is
// counted with the reason; that a change is marked in at most 5 of 100 series that did not change,
// as far as their values are independent of one another; and that CSV is read by Apache Otava,
// whose statistics weigh more.
//
// It reads run.json and the files of searches, but no intervals.
package history
