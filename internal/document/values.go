package document

import (
	"math"
	"strconv"
)

// Values are the numbers of a chart, with six significant digits: more than a screen shows. A
// missing value is NaN, and null in JSON.
type Values []float64

// MarshalJSON writes the values as an array.
func (p Values) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range p {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, v, 'g', 6, 64)
	}
	return append(out, ']'), nil
}
