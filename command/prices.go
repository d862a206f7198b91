package command

import (
	"github.com/plimsoll-bench/plimsoll/internal/price"
	"github.com/plimsoll-bench/plimsoll/result"
)

// priced is the flag of commands that print the cost of a run.
type priced struct {
	Prices string `type:"path" placeholder:"FILE" help:"Print the cost of the servers' resources, at the prices of a YAML file."`
}

// price gives runs their price, if a file of prices is named.
func (p *priced) price(runs []*result.Saved) error {
	if p.Prices == "" {
		return nil
	}
	list, err := price.Read(p.Prices)
	if err != nil {
		return inputError{err}
	}
	for _, s := range runs {
		s.Price = list.Of(&s.Run)
	}
	return nil
}
