package system

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// MustSettings reads a table of settings. It panics when the table has a
// mistake, because tables are part of the program. Each setting is a line with
// its name, its kind, its default and the values allowed; indented lines below
// it say what it shapes:
//
//	compression_type text none none|gzip|zstd
//	    how batches are compressed
//	replication_factor count 3 3..9, because every durability level asks for copies
//	    replicas of each partition
//	wait_timeout duration 5s
//	    levels 1 and 2: how long a producer waits for the copies
//
// The values allowed are a list for text, and a range for numbers. Either end
// of a range may be missing. The text behind a range ends the message that
// refuses a value outside it. A sentence that begins with levels names those at which the setting
// has an effect.
func MustSettings(table string) []Setting {
	var all []Setting
	for line := range strings.Lines(table) {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case text != strings.TrimSuffix(line, "\n"): // indented
			last := &all[len(all)-1]
			last.Doc = strings.TrimSpace(last.Doc + " " + text)
		default:
			all = append(all, mustSetting(text))
		}
	}
	for i := range all {
		all[i].Levels = levelsOf(all[i].Doc)
	}
	return all
}

// levelsOf returns the levels with which a setting's sentence begins; nil: none.
func levelsOf(doc string) (levels []workload.Level) {
	found := levelPrefix.FindStringSubmatch(doc)
	if found == nil {
		return nil
	}
	for _, digit := range found[1:] {
		n, _ := strconv.Atoi(digit) // it is a digit
		levels = append(levels, workload.Level(n))
	}
	return levels
}

var levelPrefix = regexp.MustCompile(`^levels ([1-4]) and ([1-4]): `)

func mustSetting(line string) Setting {
	fields := strings.SplitN(line, " ", 4)
	if len(fields) < 3 {
		panic(fmt.Sprintf("setting %q lacks its kind or its default: add them", line))
	}
	d := Setting{Name: fields[0], Kind: Kind(fields[1]), Default: fields[2]}
	switch {
	case len(fields) < 4:
	case d.Kind == Text:
		d.OneOf = strings.Split(fields[3], "|")
	default:
		d.bounds = parseBounds(fields[3])
	}
	if err := d.check(d.Default); err != nil {
		panic(fmt.Sprintf("setting %q: default: %v", line, err))
	}
	if !d.inRange(d.Default) {
		panic(fmt.Sprintf("setting %q: the default is out of range", line))
	}
	return d
}

// bounds holds the inclusive ends of a range as written, and the end of the message that refuses a
// value outside it. An empty end is no bound.
type bounds struct{ least, most, hint string }

func parseBounds(text string) bounds {
	end := strings.IndexAny(text, " ,;:")
	if end < 0 {
		end = len(text)
	}
	least, most, _ := strings.Cut(text[:end], "..")
	return bounds{least: least, most: most, hint: text[end:]}
}

func (b bounds) String() string {
	switch {
	case b.most == "":
		return "at least " + b.least + b.hint
	case b.least == "":
		return "at most " + b.most + b.hint
	}
	return "from " + b.least + " to " + b.most + b.hint
}

// inRange reports whether a value that check has accepted is within the bounds.
func (d Setting) inRange(value string) bool {
	n, _ := d.number(value)
	if d.bounds.least != "" {
		if least, err := d.number(d.bounds.least); err != nil || n < least {
			return false
		}
	}
	if d.bounds.most != "" {
		if most, err := d.number(d.bounds.most); err != nil || n > most {
			return false
		}
	}
	return true
}

// number returns the value of a setting that is a quantity, in the unit of
// its kind: bytes, nanoseconds, messages per second.
func (d Setting) number(value string) (float64, error) {
	switch d.Kind {
	case Count:
		n, err := quantity.ParseCount(value)
		return float64(n), err
	case Bytes:
		n, err := quantity.ParseBytes(value)
		return float64(n), err
	case Duration:
		n, err := quantity.ParseDuration(value)
		return float64(n), err
	case Rate:
		return quantity.ParseRate(value)
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%q is not a number", value)
	}
	return n, nil
}

// check returns an error if the value is not of the setting's kind.
func (d Setting) check(value string) error {
	switch d.Kind {
	case Bool:
		if value != "true" && value != "false" {
			return fmt.Errorf("%q is not true or false", value)
		}
	case Text:
		if len(d.OneOf) > 0 && !slices.Contains(d.OneOf, value) {
			return fmt.Errorf("%q is not one of %s", value, strings.Join(d.OneOf, ", "))
		}
	case Count, Bytes, Duration, Rate, Number:
		_, err := d.number(value)
		return err
	default:
		return fmt.Errorf("%q is not a kind of setting", d.Kind)
	}
	return nil
}

// OutOfRange returns a violation for each of the settings whose value is
// outside its bounds.
func (s Settings) OutOfRange(settings []Setting) strict.Violations {
	var violations strict.Violations
	for _, d := range settings {
		if !d.inRange(s.values[d.Name]) {
			violations = append(violations, s.Wrong(d.Name, "must be "+d.bounds.String()))
		}
	}
	return violations
}
