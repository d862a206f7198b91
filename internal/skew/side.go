package skew

// A point confines the offset from one side: at a time that lies age nanoseconds before the
// newest exchange's end, the offset was at most ns. The other side holds the negated offset.
type point struct{ age, ns float64 }

// lifted is the point's ns and what the wander of the drift allows. It is a convex function
// of age; the jump of the drift, a linear one, would not change a hull.
func (p point) lifted() float64 { return p.ns + wander*p.age*p.age/2 }

// side is the convex hull of all points on one side, the youngest first. No other point can
// confine a line at or after the newest exchange: for such times, all that is added to
// lifted is linear in age.
type side []point

// with returns the side with an older point, and without the points that it makes
// irrelevant.
func (s side) with(p point) side {
	for len(s) > 1 {
		a, b := s[len(s)-2], s[len(s)-1]
		if (b.lifted()-a.lifted())*(p.age-b.age) < (p.lifted()-b.lifted())*(b.age-a.age) {
			break
		}
		s = s[:len(s)-1]
	}
	return append(s, p)
}

// least is the greatest offset, a time after the newest exchange, that all points allow to a
// line with a drift, and the age of the point that allows no more.
func (s side) least(drift, later float64) (ns, age float64) {
	for i, p := range s {
		x := p.age + later
		value := p.ns + (drift+jump+wander*x/2)*x
		if i == 0 || value < ns {
			ns, age = value, x
		}
	}
	return ns, age
}

// enoughNs is what rounding may do to a sum: far less than the reading of a clock.
const enoughNs = 0.01

// greatestDrift returns the greatest drift of a line that both sides allow, a time after the
// newest exchange. It reports false when they allow no line. With the sides exchanged, it
// returns the least drift, negated.
//
// The room between the sides is a concave function of the drift, made of straight pieces.
// Newton's method from the right therefore stays on the right of the solution, and reaches
// it exactly after at most as many steps as there are pieces.
func greatestDrift(upper, lower side, later float64) (drift float64, fits bool) {
	drift = maxDrift
	for range len(upper) + len(lower) {
		most, upperAge := upper.least(drift, later)
		fewest, lowerAge := lower.least(-drift, later)
		room, slope := most+fewest, upperAge-lowerAge
		if room >= -enoughNs {
			return drift, true
		}
		if slope >= 0 {
			return drift, false
		}
		drift -= room / slope
		if drift < -maxDrift {
			return -maxDrift, false
		}
	}
	return drift, true
}
