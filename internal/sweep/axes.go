package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// MaxAxes bounds the axes of a sweep.
const MaxAxes = 8

// TargetKey is the key of the axis of targets, when a sweep has several.
const TargetKey = "target"

// Axis is a key and the values that it takes.
type Axis struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Ascends reports whether the values of an axis are quantities of one kind, such as sizes, in
// ascending order.
func (a Axis) Ascends() bool {
	for _, read := range []func(string) (float64, error){asNumber(quantity.ParseBytes),
		asNumber(quantity.ParseCount), asNumber(quantity.ParseRate), asNumber(quantity.ParseShare),
		asNumber(quantity.ParseDuration)} {
		values := make([]float64, 0, len(a.Values))
		for _, text := range a.Values {
			if v, err := read(text); err == nil {
				values = append(values, v)
			}
		}
		if len(values) == len(a.Values) {
			return slices.IsSorted(values)
		}
	}
	return false
}

// asNumber makes any quantity a number.
func asNumber[N ~int64 | ~float64](parse func(string) (N, error)) func(string) (float64, error) {
	return func(text string) (float64, error) {
		v, err := parse(text)
		return float64(v), err
	}
}

// ParseAxes reads values of --vary, such as partitions=1,10,100. A comma within brackets or
// quotes is part of a value. The error is a strict.Violations.
func ParseAxes(given []string) ([]Axis, error) {
	var axes []Axis
	var violations strict.Violations
	reject := func(text, message string) {
		violations = append(violations, strict.Violation{File: "--vary " + text, Message: message})
	}
	for _, text := range given {
		key, values, found := strings.Cut(text, "=")
		switch {
		case !found || key == "" || values == "":
			reject(text, "is not a key and its values: write it like partitions=1,10,100")
			continue
		case slices.ContainsFunc(axes, func(a Axis) bool { return a.Key == key }):
			reject(text, key+" is varied already: give all its values in one place")
			continue
		}
		axis := Axis{Key: key, Values: split(values)}
		for i, value := range axis.Values {
			if value == "" {
				reject(text, "holds an empty value: remove the comma")
			} else if slices.Contains(axis.Values[:i], value) {
				reject(text, value+" is given twice: keep one")
			}
		}
		axes = append(axes, axis)
	}
	if len(axes) > MaxAxes {
		reject("...", fmt.Sprintf("%d keys are varied: vary at most %d", len(axes), MaxAxes))
	}
	if len(violations) > 0 {
		return nil, violations
	}
	return axes, nil
}

// split cuts values at the commas outside brackets and quotes.
func split(values string) []string {
	var out []string
	depth, quoted, from := 0, rune(0), 0
	for i, r := range values {
		switch {
		case quoted != 0:
			if r == quoted {
				quoted = 0
			}
		case r == '"' || r == '\'':
			quoted = r
		case r == '{' || r == '[':
			depth++
		case r == '}' || r == ']':
			depth--
		case r == ',' && depth <= 0:
			out, from = append(out, strings.TrimSpace(values[from:i])), i+1
		}
	}
	return append(out, strings.TrimSpace(values[from:]))
}

// Label returns the name of a combination of values: partitions=10, message.size=1KB.
func Label(axes []Axis, values []string) string {
	parts := make([]string, len(axes))
	for i, a := range axes {
		parts[i] = a.Key + "=" + values[i]
	}
	return strings.Join(parts, ", ")
}
