// Package searches makes the report on searches for a peak: the bracket in which the highest stable
// rate lies, each trial with its evidence, and what limited the rate.
//
// The search itself and its judgements are in internal/peak.
package searches
