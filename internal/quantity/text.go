package quantity

import "time"

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

// Fraction is a share between 0 and 1.
type Fraction float64

// UnmarshalText reads the input of ParseShare.
func (v *Fraction) UnmarshalText(text []byte) error { return read(v, ParseShare, text) }

func read[To, From ~int64 | ~float64](
	to *To, parse func(string) (From, error), text []byte,
) error {
	value, err := parse(string(text))
	if err == nil {
		*to = To(value)
	}
	return err
}
