package document

import (
	"math"
	"strconv"
)

// Values are the numbers of a chart, with six significant digits: more than a screen shows. A
// missing value is NaN, and null in JSON.
type Values []float64

// Sparkline draws values as a line of little bars, on a scale from 0 to top.
func Sparkline(values []float64, top float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	out := make([]rune, len(values))
	for i, v := range values {
		share := 0.0
		if top > 0 {
			share = v / top
		}
		out[i] = bars[min(max(int(share*float64(len(bars)-1)+0.5), 0), len(bars)-1)]
	}
	return string(out)
}

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
