package table

import (
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Imported names the source of figures that plimsoll did not measure. It takes the place
// of the table of plimsoll's own figures.
func Imported(r *result.Run) document.Table {
	t := document.Table{ID: "imported", Title: "Source of this run", Head: document.Heads("source"),
		Words: true,
		Note: "Plimsoll did not measure this run. It made no schedule for it, kept no account " +
			"and asked no cluster."}
	for _, f := range [][2]string{{"measured by", r.Imported.Tool},
		{"read from", r.Imported.File}, {"read by plimsoll", r.Plimsoll.Version}} {
		t.Add(f[0], f[1])
	}
	return t
}
