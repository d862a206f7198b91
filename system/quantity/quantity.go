package quantity

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

// The examples of valid input that the errors give.
const (
	rightBytes    = "a size like 1024, 64KB or 1.5MB"
	rightDuration = "a duration like 250us, 10ms, 20s or 1m30s"
	rightRate     = "a rate like 500, 10k/s, 1.5M/s or 600/min"
	rightCount    = "a count like 1000, 10k, 1.5M or 1_000_000"
	rightShare    = "a share like 0.5 or 50%"
)

const year = 365 * 24 * time.Hour

// ParseBytes reads a size in bytes: 1024, 100B, 1KB, 1KiB, 1.5MB, 2GB, 1TB. K, M, G and T
// are powers of 1,024. An error says what is wrong and what to write instead.
func ParseBytes(s string) (int64, error) {
	const what = "a size"
	if err := check(s, what, rightBytes); err != nil {
		return 0, err
	}
	n, unit, ok := splitNumber(s)
	factor, known := byteUnits[strings.ToLower(strings.TrimPrefix(unit, " "))]
	if !ok || !known {
		return 0, not(s, what, rightBytes)
	}
	return wholeNumber(s, times(n, factor), what, " of bytes: write "+rightBytes, "8388607TB")
}

// wholeNumber returns a value that was written as s. unit ends the error of a fraction, and most
// is the largest value.
func wholeNumber(s string, n *big.Rat, what, unit, most string) (int64, error) {
	value, isWhole, fits := whole(n)
	switch {
	case !isWhole:
		return 0, fmt.Errorf("%s is not a whole number%s", quote(s), unit)
	case !fits:
		return 0, tooLarge(s, what, most)
	}
	return value, nil
}

// byteUnits has no bare K on purpose: beside a count such as 10k many readers would take it
// for 1,000.
var byteUnits = map[string]int64{
	"": 1, "b": 1,
	"kb": 1 << 10, "kib": 1 << 10,
	"mb": 1 << 20, "mib": 1 << 20,
	"gb": 1 << 30, "gib": 1 << 30,
	"tb": 1 << 40, "tib": 1 << 40,
}

// ParseDuration reads a duration: 250us, 10ms, 1m30s, 1.5h, 2d. Only 0 needs no unit. An
// error says what is wrong and what to write instead.
func ParseDuration(s string) (time.Duration, error) {
	const what = "a duration"
	if err := check(s, what, rightDuration); err != nil {
		return 0, err
	}
	if n, rest, ok := splitNumber(s); ok && rest == "" {
		if n.Sign() == 0 {
			return 0, nil
		}
		return 0, fmt.Errorf("%s has no unit: write %ss for seconds, %sms for milliseconds",
			quote(s), s, s)
	}
	total := new(big.Rat)
	for rest := s; rest != ""; {
		n, tail, ok := splitNumber(rest)
		letters := len(tail) - len(strings.TrimLeftFunc(tail, isUnitLetter))
		factor, known := durationUnits[tail[:letters]]
		if !ok || !known {
			return 0, not(s, what, rightDuration)
		}
		total.Add(total, times(n, factor))
		rest = tail[letters:]
	}
	value, isWhole, fits := whole(total)
	switch {
	case !isWhole:
		return 0, fmt.Errorf("%s is finer than a nanosecond: write %s", quote(s), rightDuration)
	case !fits:
		return 0, tooLarge(s, what, fmt.Sprintf("%d years", time.Duration(math.MaxInt64)/year))
	}
	return time.Duration(value), nil
}

func isUnitLetter(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '_' }

var durationUnits = map[string]int64{
	"ns": 1,
	"us": int64(time.Microsecond), "µs": int64(time.Microsecond), "μs": int64(time.Microsecond),
	"ms": int64(time.Millisecond),
	"s":  int64(time.Second),
	"m":  int64(time.Minute),
	"h":  int64(time.Hour),
	"d":  int64(24 * time.Hour),
}

// ParseRate reads a rate and returns it per second: 1000, 10k, 200k/s, 1.5M/s, 600/min,
// 3600/h. An error says what is wrong and what to write instead.
func ParseRate(s string) (float64, error) {
	const what = "a rate"
	if err := check(s, what, rightRate); err != nil {
		return 0, err
	}
	n, rest, ok := splitNumber(s)
	scale, per, _ := strings.Cut(rest, "/")
	factor, known := thousands[scale]
	seconds, timed := perUnits[per]
	if !ok || !known || !timed || (per == "") != !strings.Contains(rest, "/") {
		return 0, not(s, what, rightRate)
	}
	n = times(n, factor)
	n.Quo(n, new(big.Rat).SetInt64(seconds))
	value, _ := n.Float64()
	if math.IsInf(value, 0) {
		return 0, tooLarge(s, what, "1.8e308/s")
	}
	return value, nil
}

// thousands has no lower-case m on purpose: it could mean a minute or a thousandth.
var thousands = map[string]int64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}

var perUnits = map[string]int64{"": 1, "s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}

// ParseCount reads a count: 1000, 10k, 1.5M, 1_000_000. An error says what is wrong and what
// to write instead.
func ParseCount(s string) (int64, error) {
	const what = "a count"
	if err := check(s, what, rightCount); err != nil {
		return 0, err
	}
	n, scale, ok := splitNumber(s)
	factor, known := thousands[scale]
	if !ok || !known {
		return 0, not(s, what, rightCount)
	}
	return wholeNumber(s, times(n, factor), what, ": write "+rightCount, Count(math.MaxInt64))
}

// ParseShare reads a share between 0 and 1: 0.5, 50%. An error says what is wrong and what
// to write instead.
func ParseShare(s string) (float64, error) {
	const what = "a share"
	if err := check(s, what, rightShare); err != nil {
		return 0, err
	}
	n, rest, ok := splitNumber(s)
	if !ok || (rest != "" && rest != "%") {
		return 0, not(s, what, rightShare)
	}
	if rest == "%" {
		n.Quo(n, new(big.Rat).SetInt64(100))
	}
	if n.Cmp(big.NewRat(1, 1)) > 0 {
		return 0, fmt.Errorf("%s is more than the whole: write %s", quote(s), rightShare)
	}
	value, _ := n.Float64()
	return value, nil
}
