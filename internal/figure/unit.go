package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Unit is the unit of a figure.
type Unit string

// The units of figures.
const (
	Nanoseconds    Unit = "ns"
	PerSecond      Unit = "msgs_per_s"
	BytesPerSecond Unit = "bytes_per_s"
	Bytes          Unit = "bytes"
	Messages       Unit = "msgs" // an exact count: any two different values differ
	PerMessage     Unit = "per_msg"
	Number         Unit = "" // such as a ratio
)

// none is printed for a value that is not known.
const none = "–"

// Print writes a value with its unit, for people.
func (u Unit) Print(v float64) string {
	if Unprintable(v) || v < 0 && (u == Nanoseconds || u == Bytes || u == BytesPerSecond) {
		return none
	}
	switch u {
	case Nanoseconds:
		return quantity.Duration(int64(math.Round(v)))
	case BytesPerSecond:
		return quantity.Bytes(int64(v)) + "/s"
	case Bytes:
		return quantity.Bytes(int64(v))
	case Messages:
		return quantity.Count(int64(v))
	case PerMessage, Number:
		return quantity.Decimal(v)
	}
	return quantity.Rate(v)
}

// Known prints a value that may not be known.
func (u Unit) Known(v float64, known bool) string {
	if !known {
		return none
	}
	return u.Print(v)
}

// Unprintable reports whether a value is too large for any unit, or no number.
func Unprintable(v float64) bool { return math.IsNaN(v) || math.Abs(v) > 1<<62 }

// Parse reads a value like 5.4ms, 200k/s, 605MB/s, 12MB or 3.
func (u Unit) Parse(text string) (float64, error) {
	switch u {
	case Nanoseconds:
		d, err := quantity.ParseDuration(text)
		return float64(d), err
	case Bytes:
		return parseBytes(text)
	case BytesPerSecond:
		size, per := strings.CutSuffix(text, "/s")
		v, err := parseBytes(size)
		if !per || err != nil {
			return 0, fmt.Errorf("%q is not a byte rate: write one like 605MB/s", text)
		}
		return v, nil
	case Messages:
		n, err := quantity.ParseCount(text)
		return float64(n), err
	case PerMessage:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("%q is not a number: write one like 0.5", text)
		}
		return v, nil
	}
	return quantity.ParseRate(text)
}

// parseBytes reads a size that need not be a whole number of bytes, such as 305.69MB.
func parseBytes(text string) (float64, error) {
	unit := strings.TrimLeft(text, "0123456789.")
	number, err := strconv.ParseFloat(strings.TrimSuffix(text, unit), 64)
	one, unitErr := quantity.ParseBytes("1" + unit)
	if err != nil || unitErr != nil {
		return 0, fmt.Errorf("%q is not a size: write one like 12MB", text)
	}
	return number * float64(one), nil
}
