package quantity

import (
	"math"
	"strconv"
	"strings"
	"time"
)

var byteNames = []string{"B", "KB", "MB", "GB", "TB"}

// Bytes prints a size in bytes for people: 512B, 1KB, 1.5MB, 1.18GB. It rounds to three
// significant digits, but a value of 1,000 or more to whole units.
func Bytes(n int64) string {
	value, unit := float64(n), 0
	for unit < len(byteNames)-1 && math.Abs(roundTo(value, 4)) >= 1024 {
		value /= 1024
		unit++
	}
	// Up to 1,023 of a unit come before the point. All four digits are printed, so that 1,023 does
	// not become 1,020.
	if math.Abs(value) >= 1000 {
		return strconv.FormatFloat(math.Round(value), 'f', 0, 64) + byteNames[unit]
	}
	return significant(value, 3) + byteNames[unit]
}

// ExactBytes prints a size that ParseBytes reads back without loss: 1KB, 1.5MB, 1000B. The
// size must not be negative.
func ExactBytes(n int64) string {
	for unit := len(byteNames) - 1; unit > 0; unit-- {
		size := int64(1) << (10 * unit)
		// Two decimals print a quarter of a unit exactly, and nothing finer.
		if n >= size && n%(size/4) == 0 {
			fraction := []string{"", ".25", ".5", ".75"}[n%size/(size/4)]
			return strconv.FormatInt(n/size, 10) + fraction + byteNames[unit]
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// Duration prints nanoseconds for people: 85.3us, 1.25ms, 20s, 2m38s, 1h5m. Below a minute
// it prints three significant digits.
func Duration(ns int64) string {
	if ns < 0 {
		if ns == math.MinInt64 {
			ns++
		}
		return "-" + Duration(-ns)
	}
	value := roundTo(float64(ns), 3)
	switch {
	case ns == 0:
		return "0s"
	case value < 1e3:
		return significant(value, 3) + "ns"
	case value < 1e6:
		return significant(value/1e3, 3) + "us"
	case value < 1e9:
		return significant(value/1e6, 3) + "ms"
	case value < 60e9:
		return significant(value/1e9, 3) + "s"
	}
	if d := time.Duration(ns).Round(time.Second); d < time.Hour {
		return ExactDuration(d)
	}
	return ExactDuration(time.Duration(ns).Round(time.Minute))
}

// ExactDuration prints a duration that ParseDuration reads back without loss: 20s, 1m30s,
// 1.5ms. The duration must not be negative.
func ExactDuration(d time.Duration) string {
	text := strings.Replace(d.String(), "µ", "u", 1)
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Rate prints a rate per second for people, with four significant digits:
// 12.5/s, 200k/s, 1.5M/s.
func Rate(perSecond float64) string {
	return scaled(significant(roundTo(perSecond, 4), 4)) + "/s"
}

// ExactRate prints a rate per second that ParseRate reads back without loss: 200k/s,
// 1.234567M/s. The rate must be finite, not negative, and below 1e50.
func ExactRate(perSecond float64) string {
	return scaled(strconv.FormatFloat(perSecond, 'f', -1, 64)) + "/s"
}

// ExactShare prints a share that ParseShare reads back without loss: 50%, 0.125.
func ExactShare(share float64) string {
	if percent := math.Round(share * 100); percent/100 == share {
		return strconv.FormatFloat(percent, 'f', 0, 64) + "%"
	}
	return strconv.FormatFloat(share, 'f', -1, 64)
}

// Decimal prints a number for people, with three significant digits: 0.025, 12.5, 1,230.
func Decimal(v float64) string {
	text := significant(v, 3)
	if strings.Contains(text, ".") {
		return text // it is below 1,000
	}
	return separated(text)
}

// Count prints a count with separated thousands: 1,000,000.
func Count(n int64) string { return separated(strconv.FormatInt(n, 10)) }

// separated separates the thousands of a whole number.
func separated(whole string) string {
	digits := strings.TrimLeft(whole, "+-") // only infinity has a plus
	var b strings.Builder
	b.WriteString(whole[:len(whole)-len(digits)])
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// Plural prints a count with its noun.
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(int64(n)) + " " + many
}

// scaled writes a plain decimal in thousands (k) or millions (M). It only moves the decimal
// point, so it loses no digit: 1500 is 1.5k, 1234567 is 1.234567M.
func scaled(decimal string) string {
	sign := ""
	if strings.HasPrefix(decimal, "-") {
		sign, decimal = "-", decimal[1:]
	}
	units, fraction, _ := strings.Cut(decimal, ".")
	for _, unit := range []struct {
		name  string
		digit int
	}{{"M", 6}, {"k", 3}} {
		if len(units) <= unit.digit || units[0] < '0' || units[0] > '9' {
			continue
		}
		cut := len(units) - unit.digit
		tail := strings.TrimRight(units[cut:]+fraction, "0")
		if tail == "" {
			return sign + units[:cut] + unit.name
		}
		return sign + units[:cut] + "." + tail + unit.name
	}
	return sign + decimal
}

// significant prints a value with at most so many significant digits. It never uses an
// exponent and never adds trailing zeros.
func significant(value float64, digits int) string {
	text := strconv.FormatFloat(roundTo(value, digits), 'f', -1, 64)
	if text == "-0" {
		return "0"
	}
	return text
}

// roundTo rounds to significant digits through the decimal form, so that the printed value
// has no binary residue.
func roundTo(value float64, digits int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'e', digits-1, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}
