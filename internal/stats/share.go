package stats

import "math"

// Share is a share of events that were counted in successive intervals, such as the messages
// above a latency. Neighbouring events are alike, so they tell less than as many independent ones.
type Share struct {
	Share float64
	// Independent is the number of independent events that would vary as much.
	Independent float64
	all, dof    float64
}

// ShareOf returns the share of events, given the events and all of each interval. The number of
// independent events follows from the variance of the intervals' counts and the correlation
// between intervals (see correlated). The degrees of freedom are those of a sum of squares
// (Satterthwaite, "An Approximate Distribution of Estimates of Variance Components", 1946): where a
// few bursts hold most of the events, there are few.
func ShareOf(events, all []float64) Share {
	sum, total := 0.0, 0.0
	for i := range all {
		sum, total = sum+events[i], total+all[i]
	}
	s := Share{Share: sum / total, Independent: math.Inf(1), all: total, dof: normalDof}
	off, squares, fourths := make([]float64, len(all)), 0.0, 0.0
	for i := range all {
		off[i] = events[i] - s.Share*all[i]
		squares += off[i] * off[i]
		fourths += off[i] * off[i] * off[i] * off[i]
	}
	if fourths == 0 {
		return s
	}
	factor := correlated(off)
	s.Independent = s.Share * (1 - s.Share) * total * total / (squares * factor)
	s.dof = max(squares*squares/fourths/factor, leastDof)
	return s
}

// leastDof bounds the width of the interval of a few bursts.
const leastDof = 3

// With returns s with the independent events of o, if those are fewer, and if the events of o come
// in bursts: fewer than half of them are independent, which is more than chance.
func (s Share) With(o Share) Share {
	if o.Independent < o.all/2 {
		s.Independent = min(s.Independent, o.Independent)
	}
	return s
}

// Interval is the interval of the share, with the probability tail at each end: Wilson's
// ("Probable Inference, the Law of Succession, and Statistical Inference", 1927) of the
// independent events, with Student's distribution.
func (s Share) Interval(tail float64) (low, high float64) {
	z := Student(s.dof, tail)
	part := z * z / s.Independent
	middle := (s.Share + part/2) / (1 + part)
	reach := math.Sqrt(part*(s.Share*(1-s.Share)+part/4)) / (1 + part)
	return max(middle-reach, 0), min(middle+reach, 1)
}

// normalDof are degrees of freedom at which Student's distribution is the normal one.
const normalDof = 1e4

// correlated is the factor by which the correlation of neighbours increases the variance of a
// series' mean. It is the greater of two estimates: that of a first-order autoregression, with the
// correlation corrected for its bias (see Widening), and a sum of autocorrelations with a flat-top
// window, which is as long as the data are correlated (Politis and White, "Automatic Block-Length
// Selection for the Dependent Bootstrap", 2004).
func correlated(series []float64) float64 {
	n := float64(len(series))
	if n < 4 {
		return 1
	}
	// The correlation is over when so many successive lags are below the bound.
	lags := max(5, int(math.Ceil(math.Sqrt(math.Log10(n)))))
	most := min(int(math.Ceil(math.Sqrt(n)))+lags, len(series)-1)
	c := autocovariance(series, most)
	first := (c[1]/c[0] + 1/n) / (1 - 3/n)
	factor := max(1, (1+min(first, mostCorrelation))/(1-min(first, mostCorrelation)))
	bound := 2 * math.Sqrt(math.Log10(n)/n) * c[0]
	last, quiet := 0, 0
	for lag := 1; lag <= most && quiet < lags; lag++ {
		if quiet++; math.Abs(c[lag]) >= bound {
			last, quiet = lag, 0
		}
	}
	sum, window := 1.0, float64(2*last)
	for lag := 1; lag <= min(2*last, most); lag++ {
		sum += 2 * min(1, 2*(1-float64(lag)/window)) * c[lag] / c[0]
	}
	return max(factor, sum)
}
