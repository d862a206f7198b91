package verdict

import "math"

// UpperBound is the upper limit of a probability that an event has, when it was
// seen broken times in so many independent trials: with the given confidence, the
// probability is no greater. It is the exact one-sided limit of the binomial
// distribution (Clopper and Pearson, "The Use of Confidence or Fiducial Limits
// Illustrated in the Case of the Binomial", 1934). Of 0 events in n trials it is
// near 3/n at 95%. Without a trial it is 1.
func UpperBound(broken, of int64, confidence float64) float64 {
	switch {
	case of <= 0 || broken >= of:
		return 1
	case broken <= 0:
		return -math.Expm1(math.Log1p(-confidence) / float64(of))
	}
	// It is the p at which so few events have the probability 1-confidence. What lies
	// between two floats is nobody's.
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
