package quantity

import (
	"strconv"
	"time"
)

// The types below implement encoding.TextUnmarshaler, so that decoders read quantities.

// Size is a number of bytes.
type Size int64

// UnmarshalText reads the input of ParseBytes.
func (v *Size) UnmarshalText(text []byte) error { return read(v, ParseBytes, text) }

// Span is a duration.
type Span time.Duration

// UnmarshalText reads the input of ParseDuration.
func (v *Span) UnmarshalText(text []byte) error { return read(v, ParseDuration, text) }

// PerSecond is a rate per second.
type PerSecond float64

// UnmarshalText reads the input of ParseRate.
func (v *PerSecond) UnmarshalText(text []byte) error { return read(v, ParseRate, text) }

// Number is a count.
type Number int64

// UnmarshalText reads the input of ParseCount.
func (v *Number) UnmarshalText(text []byte) error { return read(v, ParseCount, text) }

// Whole is a Number as an int.
type Whole int

// UnmarshalText reads the input of ParseCount.
func (v *Whole) UnmarshalText(text []byte) error { return read(v, ParseCount, text) }

// Fraction is a share between 0 and 1.
type Fraction float64

// UnmarshalText reads the input of ParseShare.
func (v *Fraction) UnmarshalText(text []byte) error { return read(v, ParseShare, text) }

func read[To ~int | ~int64 | ~float64, From ~int64 | ~float64](
	to *To, parse func(string) (From, error), text []byte,
) error {
	value, err := parse(string(text))
	if err == nil {
		*to = To(value)
	}
	return err
}

// UnmarshalText reads the output of the String methods back as the same value.

func (v Size) String() string      { return ExactBytes(int64(v)) }
func (v Span) String() string      { return ExactDuration(time.Duration(v)) }
func (v PerSecond) String() string { return ExactRate(float64(v)) }
func (v Number) String() string    { return strconv.FormatInt(int64(v), 10) }
func (v Whole) String() string     { return strconv.Itoa(int(v)) }
func (v Fraction) String() string  { return ExactShare(float64(v)) }
