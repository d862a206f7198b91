package price

import (
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// List is a file of prices. A price that the file does not give is nil.
type List struct {
	Currency     currency        `yaml:"currency"`
	Date         day             `yaml:"date"`
	CoreHour     *float64        `yaml:"core_hour"`
	MemoryGBHour *float64        `yaml:"memory_gb_hour"`
	DiskGBMonth  *float64        `yaml:"disk_gb_month"`
	NetworkGB    *float64        `yaml:"network_gb"` // between zones
	Retention    *quantity.Span  `yaml:"retention"`  // for which messages stay on disk
	Zones        *quantity.Whole `yaml:"zones"`      // among which servers and clients are spread
}

const (
	defaultZones = 3
	maxZones     = 100
	maxPrice     = 1e6 // of a unit, in any currency
)

// currency is a code of three letters, as in ISO 4217.
type currency string

// UnmarshalText reads USD.
func (c *currency) UnmarshalText(text []byte) error {
	wrong := len(text) != 3
	for _, b := range text {
		wrong = wrong || b < 'A' || b > 'Z'
	}
	if wrong {
		return errors.New("is not the code of a currency: write three capitals, such as USD")
	}
	*c = currency(text)
	return nil
}

// day is a date.
type day string

// UnmarshalText reads 2026-11-23.
func (d *day) UnmarshalText(text []byte) error {
	if _, err := time.Parse(time.DateOnly, string(text)); err != nil {
		return errors.New("is not a date: write it as 2026-11-23")
	}
	*d = day(text)
	return nil
}

// Read reads a file of prices. The error is one sentence, or a strict.Violations with
// everything that is wrong.
func Read(path string) (*List, error) {
	src, err := strict.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("prices file %w", err)
	}
	return Parse(path, src)
}

// Parse reads prices. file is the name for error messages.
func Parse(file string, src []byte) (*List, error) {
	l := new(List)
	doc := strict.Decode(file, src, l,
		"prices need at least a currency, a date and a price: see docs/COST.md")
	if !doc.Broken() {
		l.check(doc)
	}
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *List) check(doc *strict.Document) {
	if l.Currency == "" {
		doc.Reject("currency", "is missing: write currency: USD, or another")
	}
	if l.Date == "" {
		doc.Reject("date", "is missing: prices change, so write the day on which they held")
	}
	given := false
	for _, p := range l.prices() {
		if p.value == nil {
			continue
		}
		given = true
		if *p.value < 0 || *p.value > maxPrice {
			doc.Reject(p.key, "must be from 0 to 1,000,000")
		}
	}
	if !given {
		doc.Reject("", "no price is given: write core_hour, memory_gb_hour, disk_gb_month or "+
			"network_gb")
	}
	switch {
	case l.DiskGBMonth != nil && l.Retention == nil:
		doc.Reject("retention", "is missing: a price of disk needs the time for which messages "+
			"are kept, such as retention: 7d")
	case l.Retention != nil && *l.Retention <= 0:
		doc.Reject("retention", "must be above 0")
	}
	if l.Zones != nil && (*l.Zones < 1 || *l.Zones > maxZones) {
		doc.Reject("zones", "must be from 1 to 100")
	}
}

// keyed is a price with its key.
type keyed struct {
	key   string
	value *float64
}

func (l *List) prices() []keyed {
	return []keyed{{"core_hour", l.CoreHour}, {"memory_gb_hour", l.MemoryGBHour},
		{"disk_gb_month", l.DiskGBMonth}, {"network_gb", l.NetworkGB}}
}

// zones returns the number of zones among which servers and clients are spread.
func (l *List) zones() float64 {
	if l.Zones == nil {
		return defaultZones
	}
	return float64(*l.Zones)
}
