package stats

import (
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// UpperBound is the upper limit of the probability of an event that occurred broken times in of
// independent trials: with the given confidence, the probability is no greater. It is the exact
// one-sided limit of the binomial distribution (Clopper and Pearson, "The Use of Confidence or
// Fiducial Limits Illustrated in the Case of the Binomial", 1934). Of 0 events in n trials it is
// near 3/n at 95%. Without a trial it is 1.
func UpperBound(broken, of int64, confidence float64) float64 {
	switch {
	case of <= 0 || broken >= of:
		return 1
	case broken <= 0:
		return -math.Expm1(math.Log1p(-confidence) / float64(of))
	}
	// The limit is the p at which at most broken events have the probability 1-confidence. The
	// bisection stops when no float lies between its ends.
	low, high := float64(broken)/float64(of), 1.0
	for range 200 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if atMost(broken, of, middle) > 1-confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// atMost is the probability of at most k events in n trials, each of probability p,
// where k is below the mean: from k down each term is smaller than the one before.
func atMost(k, n int64, p float64) float64 {
	term, sum := 1.0, 0.0
	for i := k; i >= 0 && term > sum*1e-17; i-- {
		sum += term
		term *= float64(i) * (1 - p) / (float64(n-i+1) * p)
	}
	return sum * math.Exp(logBinomial(k, n, p))
}

// logBinomial is the logarithm of the probability of k events in n trials.
func logBinomial(k, n int64, p float64) float64 {
	gamma := func(v int64) float64 {
		g, _ := math.Lgamma(float64(v) + 1)
		return g
	}
	return gamma(n) - gamma(k) - gamma(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p)
}

// MedianInterval is the interval by order statistics for the median of the distribution of
// values (Thompson, "On Confidence Ranges for the Median", 1936), and its actual confidence.
// When there are too few values for the requested confidence, the interval reaches from the
// least value to the greatest.
func MedianInterval(values []float64, confidence float64) (low, high, has float64) {
	if len(values) < FewestForMedian((1-confidence)/2) {
		return slices.Min(values), slices.Max(values), 1 - math.Pow(0.5, float64(len(values)-1))
	}
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, confidence)
	return s.Lo, s.Hi, s.Confidence
}

// MedianBound is a pair of order statistics of values: the median of their distribution lies
// below low, and above high, each with a probability of at most tail. ok is false when there
// are too few values.
func MedianBound(values []float64, tail float64) (low, high float64, ok bool) {
	sorted := slices.Sorted(slices.Values(values))
	coin := moremath.BinomialDist{N: len(sorted), P: 0.5}
	k := 0
	for k < len(sorted) && coin.CDF(float64(k)) <= tail*(1+1e-9) {
		k++
	}
	if k == 0 {
		return 0, math.Inf(1), false
	}
	return sorted[k-1], sorted[len(sorted)-k], true
}

// FewestForMedian is the least number of values for MedianBound.
func FewestForMedian(tail float64) int {
	return max(1, int(math.Ceil(-math.Log2(tail)-1e-9)))
}
