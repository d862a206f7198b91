package document

import "slices"

// GriddedAtMost bounds the rows of a poster's table; the text has the others.
const GriddedAtMost = 12

// grid writes the figures as a table: a row for each, and a column for each system.
func (p *Poster) grid(d *pen, top, bottom float64) {
	rows := append(slices.Clone(p.Faults),
		p.Figures[:min(len(p.Figures), GriddedAtMost-len(p.Faults))]...)
	const highest = 34.0
	row := min(highest, (bottom-top)/float64(len(rows)+1))
	name := gridName
	for _, f := range rows {
		name = min(max(name, textWidth(f.Name)*16/fontSize+12), gridNameMost)
	}
	wide := (posterWidth - 2*posterRim - name) / float64(max(len(p.Systems), 1))
	right := func(column int) float64 { return posterRim + name + wide*float64(column+1) }
	y := top + row/2
	for i, s := range p.Systems {
		d.words("label right", right(i), y, shortenTo(s, 16, wide-12))
	}
	for k, f := range rows {
		y += row
		class := "value right"
		if k < len(p.Faults) {
			class = "fault right"
		}
		d.words("name", posterRim, y, shortenTo(f.Name, 16, name-4))
		for i, v := range f.Values[:min(len(f.Values), len(p.Systems))] {
			d.words(class, right(i), y, shortenTo(v, 20*bold, wide-12))
		}
	}
}

// The least and the greatest width of the names of rows.
const (
	gridName     = 210.0
	gridNameMost = 460.0
)
