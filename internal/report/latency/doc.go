// Package latency prints latencies of a run with what limits their meaning: bounds, the mark of
// plimsoll's own error, messages without a latency, and confidence intervals.
//
// It promises that no percentile is printed which the samples cannot support, and that only exact
// latencies are handed out to be drawn or divided.
package latency
