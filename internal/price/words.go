package price

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Sentence returns a price in words, or "" if there is none.
func Sentence(p *result.Price) string {
	if p == nil {
		return ""
	}
	left := strings.Join(p.LeftOut, "; ")
	if len(p.Parts) == 0 {
		return "not priced: " + left
	}
	least := ""
	if left != "" {
		least = "at least "
	}
	var parts []string
	for _, part := range p.Parts {
		parts = append(parts, fmt.Sprintf("%s %s (%s)", part.Resource, number(part.PerMillion),
			part.Used))
	}
	out := fmt.Sprintf("%s%s %s per million messages, %s per 10^9 bytes published, at prices of "+
		"%s: %s", least, number(p.PerMillion), p.Currency, number(p.PerGB), p.Date,
		strings.Join(parts, ", "))
	if left != "" {
		out += "; not in it: " + left
	}
	return out
}
