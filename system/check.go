package system

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Check is the request to check.
type Check struct {
	Settings   Settings
	Durability workload.Level
	Delivery   workload.Delivery
	Nodes      int // of the testbed to start; 0 when endpoints are given
}

// Refuse returns the reason why a system cannot do what is asked: its description excludes the
// level or the delivery, or its Check has violations.
func Refuse(s System, c Check) error {
	d := s.Describe()
	if err := d.RefuseLevel(c.Durability); err != nil {
		return err
	}
	if !slices.Contains(d.Delivery, c.Delivery) {
		return fmt.Errorf("%s cannot deliver %s: it can deliver %v", d.Name, c.Delivery,
			d.Delivery)
	}
	return s.Check(c)
}

// RefuseLevel returns the reason why the system cannot give a level; nil: it can.
func (d Description) RefuseLevel(l workload.Level) error {
	if !l.Valid() {
		return fmt.Errorf("durability level %d: the levels are 1 to 4", l)
	}
	guarantee, known := d.Levels[l]
	if known && guarantee.Refusal == "" {
		return nil
	}
	why := guarantee.Refusal
	if !known {
		why = "the driver knows no settings that give it"
	}
	return fmt.Errorf("%s cannot give durability level %d, only %s: %s", d.Name, l, d.able(),
		why)
}

// able lists the levels that the system gives, as a part of a sentence.
func (d Description) able() string {
	var all []string
	for l := workload.SyncSync; l <= workload.AsyncAsync; l++ {
		if g, known := d.Levels[l]; known && g.Refusal == "" {
			all = append(all, strconv.Itoa(int(l)))
		}
	}
	return strict.List("and", all...)
}
