package document

// Values are the numbers of a chart. A missing value is NaN.
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
