// Package history shows one figure of many experiments below a folder in order of time: nights,
// commits, versions of the servers.
//
// It promises that only experiments that may be compared stand in one series; that an
// experiment which is left out is counted with the reason; that a change is marked in at most
// 5 of 100 series that did not change, as far as their values are independent of one another;
// and that CSV is read by Apache Otava, whose statistics weigh more.
//
// It reads run.json and the files of searches, and none of the intervals.
package history
