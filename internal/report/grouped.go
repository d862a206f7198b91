package report

import "fmt"

// grouped are values by their key, with the keys in the order in which they came.
type grouped[K comparable, V any] struct {
	keys []K
	of   map[K][]V
}

func (g *grouped[K, V]) add(key K, v V) {
	if g.of == nil {
		g.of = map[K][]V{}
	}
	if g.of[key] == nil {
		g.keys = append(g.keys, key)
	}
	g.of[key] = append(g.of[key], v)
}

// cellsSuchAs names the first of several cells, and their number.
func cellsSuchAs(cells []string) string {
	if len(cells) == 1 {
		return cells[0]
	}
	return fmt.Sprintf("%d cells, such as %s", len(cells), cells[0])
}
