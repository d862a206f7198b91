package quantity

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "1024": 1024, "100B": 100, "1KB": 1024, "1KiB": 1024, "1kb": 1024, "1 KB": 1024,
		"1.5MB": 1572864, "2GB": 2 << 30, "1TB": 1 << 40, "1_000": 1000, "0.5kib": 512,
		"8388607TB": 8388607 << 40, "007": 7,
	} {
		if got, err := ParseBytes(s); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "1ns": 1, "250us": 250e3, "250µs": 250e3, "250μs": 250e3,
		"10ms": 10e6, "20s": 20e9, "1m30s": 90e9, "1.5h": 5400e9, "2d": 48 * time.Hour,
		"1h0.5m": 3630e9, "1_000ms": 1e9,
	} {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
}

func TestParseRate(t *testing.T) {
	for s, want := range map[string]float64{
		"0": 0, "1000": 1000, "10_000": 10e3, "10k": 10e3, "10K/s": 10e3, "200k/s": 200e3,
		"1.5M/s": 1.5e6, "600/min": 10, "3600/h": 1, "0.1/s": 0.1, "1G/sec": 1e9, "6k/m": 100,
	} {
		if got, err := ParseRate(s); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
}

func TestParseCount(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "1000": 1000, "10k": 10e3, "1.5M": 1.5e6, "1_000_000": 1e6, "2G": 2e9,
		"9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseCount(s); err != nil || got != want {
			t.Errorf("ParseCount(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
}

func TestParseShare(t *testing.T) {
	for s, want := range map[string]float64{
		"0": 0, "0.5": 0.5, "50%": 0.5, "1": 1, "100%": 1, "0%": 0, "12.5%": 0.125,
	} {
		if got, err := ParseShare(s); err != nil || got != want {
			t.Errorf("ParseShare(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
}

func TestErrorsShowValidInput(t *testing.T) {
	size := func(s string) error { _, err := ParseBytes(s); return err }
	duration := func(s string) error { _, err := ParseDuration(s); return err }
	rate := func(s string) error { _, err := ParseRate(s); return err }
	count := func(s string) error { _, err := ParseCount(s); return err }
	share := func(s string) error { _, err := ParseShare(s); return err }
	for _, c := range []struct {
		parse   func(string) error
		s, want string
	}{
		{size, "", "a size is missing: write a size like 1024, 64KB or 1.5MB"},
		{size, "64K", `"64K" is not a size: write a size like 1024, 64KB or 1.5MB`},
		{size, "-1", `"-1" is negative: write a size like 1024, 64KB or 1.5MB`},
		{size, "0.3KB",
			`"0.3KB" is not a whole number of bytes: write a size like 1024, 64KB or 1.5MB`},
		{size, "8388608TB", `"8388608TB" is too large for a size: the largest is 8388607TB`},
		{size, "1,000", `"1,000" is not a size: write a size like 1024, 64KB or 1.5MB`},
		{duration, "20", `"20" has no unit: write 20s for seconds, 20ms for milliseconds`},
		{duration, "-5s", `"-5s" is negative: write a duration like 250us, 10ms, 20s or 1m30s`},
		{duration, "5 s",
			`"5 s" is not a duration: write a duration like 250us, 10ms, 20s or 1m30s`},
		{duration, "0.1ns",
			`"0.1ns" is finer than a nanosecond: write a duration like 250us, 10ms, 20s or 1m30s`},
		{duration, "300000d", `"300000d" is too large for a duration: the largest is 292 years`},
		{duration, "1m30",
			`"1m30" is not a duration: write a duration like 250us, 10ms, 20s or 1m30s`},
		{rate, "NaN", `"NaN" is not a rate: write a rate like 500, 10k/s, 1.5M/s or 600/min`},
		{rate, "+Inf", `"+Inf" is not a rate: write a rate like 500, 10k/s, 1.5M/s or 600/min`},
		{rate, "10m", `"10m" is not a rate: write a rate like 500, 10k/s, 1.5M/s or 600/min`},
		{rate, "10/", `"10/" is not a rate: write a rate like 500, 10k/s, 1.5M/s or 600/min`},
		{rate, "1e3", `"1e3" is not a rate: write a rate like 500, 10k/s, 1.5M/s or 600/min`},
		{count, "1.5",
			`"1.5" is not a whole number: write a count like 1000, 10k, 1.5M or 1_000_000`},
		{count, "9223372036854775808", `"9223372036854775808" is too large for a count: ` +
			`the largest is 9,223,372,036,854,775,807`},
		{count, "1__0", `"1__0" is not a count: write a count like 1000, 10k, 1.5M or 1_000_000`},
		{share, "50", `"50" is more than the whole: write a share like 0.5 or 50%`},
		{share, "half", `"half" is not a share: write a share like 0.5 or 50%`},
		{share, strings.Repeat("é", 100), `"` + strings.Repeat("é", 20) +
			`"... is too long for a share: write a share like 0.5 or 50%`},
	} {
		if err := c.parse(c.s); err == nil || err.Error() != c.want {
			t.Errorf("%q\ngot  %v\nwant %v", c.s, err, c.want)
		}
	}
}

func TestPrintForPeople(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 1: "1B", 999: "999B", 1000: "1000B", 1023: "1023B", 1024: "1KB",
		1536: "1.5KB", 1234567: "1.18MB", 1<<20 - 1: "1MB", 1<<30 - 1: "1GB",
		1000 << 20: "1000MB", -2048: "-2KB",
		math.MaxInt64: "8388608TB", math.MinInt64: "-8388608TB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for ns, want := range map[int64]string{
		0: "0s", 1: "1ns", 999: "999ns", 85_349: "85.3us", 999_999: "1ms", 1_250_000: "1.25ms",
		10_000_000: "10ms", 123_456_789: "123ms", 20_000_000_000: "20s", 59_990_000_000: "1m",
		157_960_000_000: "2m38s", 3_600_000_000_000: "1h", 3_905_000_000_000: "1h5m",
		-85_349: "-85.3us", 86_400_000_000_000: "24h",
		math.MaxInt64: "2562047h47m", math.MinInt64: "-2562047h47m",
	} {
		if got := Duration(ns); got != want {
			t.Errorf("Duration(%d) = %q, want %q", ns, got, want)
		}
	}
	for rate, want := range map[float64]string{
		0: "0/s", 12.5: "12.5/s", 999.96: "1k/s", 10_000: "10k/s", 200_000: "200k/s",
		1.5e6: "1.5M/s", 9987.1234: "9.987k/s", 0.001: "0.001/s", -5000: "-5k/s",
		math.Inf(1): "+Inf/s", math.NaN(): "NaN/s",
	} {
		if got := Rate(rate); got != want {
			t.Errorf("Rate(%v) = %q, want %q", rate, got, want)
		}
	}
	for v, want := range map[float64]string{
		0: "0", 0.02499: "0.025", 2.5: "2.5", 99.96: "100", 999.4: "999", 999.6: "1,000",
		1234: "1,230", -1234: "-1,230", 1.239e6: "1,240,000", -0.5: "-0.5",
		1e21: "1,000,000,000,000,000,000,000", math.Inf(1): "+Inf", math.NaN(): "NaN",
	} {
		if got := Decimal(v); got != want {
			t.Errorf("Decimal(%v) = %q, want %q", v, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1_000_000: "1,000,000", -1234: "-1,234",
		-123: "-123", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestPrintExactly(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 1000: "1000B", 1024: "1KB", 1280: "1.25KB", 1_572_864: "1.5MB", 1 << 40: "1TB",
	} {
		if got := ExactBytes(n); got != want {
			t.Errorf("ExactBytes(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 20e9: "20s", 60e9: "1m", 90e9: "1m30s", 70e9: "1m10s", 3600e9: "1h",
		3610e9: "1h0m10s", 36000e9: "10h", 250e3: "250us",
	} {
		if got := ExactDuration(d); got != want {
			t.Errorf("ExactDuration(%d) = %q, want %q", d, got, want)
		}
	}
	for rate, want := range map[float64]string{
		1234567.25: "1.23456725M/s", 10e3: "10k/s", 0.1: "0.1/s",
	} {
		if got := ExactRate(rate); got != want {
			t.Errorf("ExactRate(%v) = %q, want %q", rate, got, want)
		}
	}
	for share, want := range map[float64]string{0.5: "50%", 0: "0%", 1: "100%", 0.125: "0.125"} {
		if got := ExactShare(share); got != want {
			t.Errorf("ExactShare(%v) = %q, want %q", share, got, want)
		}
	}
}

func TestExactTextsAreReadBack(t *testing.T) {
	positive := func(f float64) bool { return f == 0 || f > 1e-20 }
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "n")
		if got, err := ParseBytes(ExactBytes(n)); err != nil || got != n {
			t.Errorf("bytes %d: %q: %d, %v", n, ExactBytes(n), got, err)
		}
		span := time.Duration(n)
		if got, err := ParseDuration(ExactDuration(span)); err != nil || int64(got) != n {
			t.Errorf("duration %d: %q: %d, %v", n, ExactDuration(span), got, err)
		}
		rate := rapid.Float64Range(0, 1e9).Filter(positive).Draw(t, "rate")
		if got, err := ParseRate(ExactRate(rate)); err != nil || got != rate {
			t.Errorf("rate %v: %q: %v, %v", rate, ExactRate(rate), got, err)
		}
		share := rapid.Float64Range(0, 1).Filter(positive).Draw(t, "share")
		if got, err := ParseShare(ExactShare(share)); err != nil || got != share {
			t.Errorf("share %v: %q: %v, %v", share, ExactShare(share), got, err)
		}
	})
}

// The error of a printed duration is at most half of its last digit.
func TestLatenciesKeepThreeDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(1, 59e9).Draw(t, "ns")
		got, err := ParseDuration(Duration(ns))
		if err != nil || math.Abs(float64(int64(got)-ns)) > 0.0051*float64(ns) {
			t.Errorf("Duration(%d) = %q: %v, %v", ns, Duration(ns), got, err)
		}
	})
}

func TestTypesReadText(t *testing.T) {
	var (
		size     Size
		span     Span
		rate     PerSecond
		number   Number
		fraction Fraction
	)
	for _, err := range []error{
		size.UnmarshalText([]byte("1KB")), span.UnmarshalText([]byte("1m")),
		rate.UnmarshalText([]byte("10k/s")), number.UnmarshalText([]byte("10k")),
		fraction.UnmarshalText([]byte("25%")),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if size != 1024 || span != Span(time.Minute) || rate != 10e3 ||
		number != 10e3 || fraction != 0.25 {
		t.Error(size, span, rate, number, fraction)
	}
	if err := size.UnmarshalText([]byte("junk")); err == nil || size != 1024 {
		t.Errorf("junk changed the size to %d: %v", size, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "1", "1.5MB", "1m30s", "10k/s", "600/min", "50%", "-1", "1__0", "NaN", "1e9", "µs",
		"\xff", "9999999999999999999TB", "1.", ".5",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseBytes(s); err == nil && n < 0 {
			t.Errorf("ParseBytes(%q) = %d", s, n)
		}
		if d, err := ParseDuration(s); err == nil && d < 0 {
			t.Errorf("ParseDuration(%q) = %d", s, d)
		}
		if r, err := ParseRate(s); err == nil && !(r >= 0 && r <= math.MaxFloat64) {
			t.Errorf("ParseRate(%q) = %v", s, r)
		}
		if n, err := ParseCount(s); err == nil && n < 0 {
			t.Errorf("ParseCount(%q) = %d", s, n)
		}
		if r, err := ParseShare(s); err == nil && !(r >= 0 && r <= 1) {
			t.Errorf("ParseShare(%q) = %v", s, r)
		}
	})
}

func FuzzPrint(f *testing.F) {
	f.Add(int64(0), 0.0)
	f.Add(int64(math.MinInt64), math.Inf(-1))
	f.Add(int64(math.MaxInt64), math.NaN())
	f.Fuzz(func(t *testing.T, n int64, v float64) {
		for _, text := range []string{
			Bytes(n), Duration(n), Count(n), Rate(v), Decimal(v), ExactBytes(n),
			ExactDuration(time.Duration(n)), ExactRate(v), ExactShare(v),
		} {
			if text == "" {
				t.Error("nothing printed for", n, v)
			}
		}
	})
}

// Rounding never makes a value look like a bound that it misses.
func TestBesideABound(t *testing.T) {
	for got, want := range map[string]string{
		PercentBeside(0.9896, 0.99):            "98.96%",
		PercentBeside(0.98, 0.99):              "98.0%",
		PercentBeside(0.99, 0.99):              "99.0%",
		PercentBeside(0.989999, 0.99):          "98.9999%",
		RateBeside(949.996, 950):               "949.996/s",
		RateBeside(949.9, 950):                 "949.9/s",
		RateBeside(950, 950):                   "950/s",
		DurationBeside(20_000_001, 20_000_000): "20.000001ms",
		DurationBeside(21_000_000, 20_000_000): "21ms",
		DurationBeside(20_000_000, 20_000_000): "20ms",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v, bound := rapid.Float64Range(0, 2).Draw(t, "v"), rapid.Float64Range(0, 2).Draw(t, "bound")
		if far := math.Abs(v-bound) > 1e-12; far && PercentBeside(v, bound) ==
			PercentBeside(bound, bound) {
			t.Fatalf("%v and %v both print %s", v, bound, PercentBeside(v, bound))
		}
	})
}

// A unit of bytes means the same in every input and every output.
func TestAByteUnitHasOneMeaning(t *testing.T) {
	for power, name := range byteNames {
		size := int64(1) << (10 * power)
		if Bytes(size) != "1"+name || ExactBytes(size) != "1"+name {
			t.Errorf("%d bytes print as %s and %s", size, Bytes(size), ExactBytes(size))
		}
		for _, text := range []string{"1" + name, "1" + strings.Replace(name, "B", "iB", 1)} {
			if power == 0 {
				text = "1B"
			}
			if got, err := ParseBytes(text); err != nil || got != size {
				t.Errorf("%s reads as %d, %v", text, got, err)
			}
		}
	}
}
