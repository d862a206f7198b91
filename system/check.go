package system

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	if err := d.checkLevel(c.Durability); err != nil {
		return err
	}
	if !slices.Contains(d.Delivery, c.Delivery) {
		return fmt.Errorf("%s cannot deliver %s: it can deliver %v", d.Name, c.Delivery,
			d.Delivery)
	}
	return s.Check(c)
}

func (d Description) checkLevel(level workload.Level) error {
	if !level.Valid() {
		return fmt.Errorf("there is no durability level %d: take 1 to 4", level)
	}
	guarantee, known := d.Levels[level]
	if known && guarantee.Refusal == "" {
		return nil
	}
	why := guarantee.Refusal
	if !known {
		why = "the driver knows no settings that give it"
	}
	return fmt.Errorf("%s cannot give durability level %d, only %s: %s", d.Name, level,
		d.levels(), why)
}

// levels lists the levels that the system gives, as a part of a sentence.
func (d Description) levels() string {
	var able []string
	for level := workload.SyncSync; level <= workload.AsyncAsync; level++ {
		if g, known := d.Levels[level]; known && g.Refusal == "" {
			able = append(able, strconv.Itoa(int(level)))
		}
	}
	if n := len(able) - 1; n > 0 {
		return strings.Join(able[:n], ", ") + " and " + able[n]
	}
	return strings.Join(able, "")
}
