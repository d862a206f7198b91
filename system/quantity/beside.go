package quantity

import (
	"strconv"
	"time"
)

// mostDigits bounds the digits that distinguish a value from a bound. A float64 has no more.
const mostDigits = 17

// DurationBeside prints nanoseconds as Duration does, and exactly where Duration prints a
// different bound alike. So a value that exceeds a bound is never printed as the bound.
func DurationBeside(ns, boundNs int64) string {
	if text := Duration(ns); ns == boundNs || ns < 0 || text != Duration(boundNs) {
		return text
	}
	return ExactDuration(time.Duration(ns))
}

// RateBeside prints a rate as Rate does, with as many more digits as distinguish it from a
// different bound.
func RateBeside(perSecond, bound float64) string {
	return beside(perSecond, bound, 4, func(v float64, digits int) string {
		return scaled(significant(v, digits)) + "/s"
	})
}

// PercentBeside prints a share in per cent with one decimal, and with as many more as distinguish
// it from a different bound.
func PercentBeside(share, bound float64) string {
	return beside(share, bound, 1, func(v float64, decimals int) string {
		return strconv.FormatFloat(v*100, 'f', decimals, 64) + "%"
	})
}

// TimesBeside prints a ratio with three decimals, and with as many more as distinguish it from a
// different bound: 1.104x.
func TimesBeside(ratio, bound float64) string {
	return beside(ratio, bound, 3, func(v float64, decimals int) string {
		return strconv.FormatFloat(v, 'f', decimals, 64) + "x"
	})
}

// beside prints a value with the least digits with which it differs from a different bound.
func beside(value, bound float64, digits int, print func(v float64, digits int) string) string {
	text := print(value, digits)
	for ; value != bound && text == print(bound, digits) && digits < mostDigits; digits++ {
		text = print(value, digits+1)
	}
	return text
}
