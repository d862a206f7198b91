package omb

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Translator is a System for which OMB has drivers.
type Translator interface {
	// OMB returns the system's part of OMB's files.
	OMB() Dialect
}

// Dialect is one system's part of OMB's files.
type Dialect struct {
	System string // plimsoll's name of the system; Of sets it
	Title  string // its name in sentences
	// Drivers translate driver files, by the driver class without OMB's own package.
	Drivers map[string]func(*DriverFile)
	Caveats []Caveat
	system  system.System // Of sets it
}

// Caveat is a note for readers of figures that one of OMB's drivers measured.
type Caveat struct {
	Driver string // a part of the driver's name, in small letters
	Note   string
	// Upstream limits the caveat to files that OMB's own version wrote: the forks of 2020
	// differ.
	Upstream bool
}

// Dialects are the dialects of several systems.
type Dialects []Dialect

// Of returns the dialects of the systems that implement Translator, in their order.
func Of(systems []system.System) Dialects {
	var all Dialects
	for _, s := range systems {
		if t, ok := s.(Translator); ok {
			d := t.OMB()
			d.System, d.system = s.Describe().Name, s
			all = append(all, d)
		}
	}
	return all
}

// titles lists the systems for a sentence: "A, B and C".
func (all Dialects) titles() string {
	var titles []string
	for _, d := range all {
		titles = append(titles, d.Title)
	}
	return strict.List("and", titles...)
}

// translator returns the dialect of a driver class; false: no dialect has it.
func (all Dialects) translator(class string) (of Dialect, translate func(*DriverFile), known bool) {
	for _, d := range append(all[:len(all):len(all)], undriven) {
		if translate, known = d.Drivers[class]; known {
			return d, translate, true
		}
	}
	return Dialect{}, nil, false
}

// classes returns the driver classes that can be read.
func (all Dialects) classes() []string {
	var names []string
	for _, d := range append(all[:len(all):len(all)], undriven) {
		for name := range d.Drivers {
			names = append(names, name)
		}
	}
	return names
}

// undriven has the drivers of systems that plimsoll cannot measure.
var undriven = Dialect{
	Drivers: map[string]func(*DriverFile){
		"jms.JMSBenchmarkDriver":         func(d *DriverFile) { d.Undriven("JMS") },
		"pravega.PravegaBenchmarkDriver": func(d *DriverFile) { d.Undriven("Pravega") },
		"bookkeeper.BookkeeperBenchmarkDriver": func(d *DriverFile) {
			d.Undriven("DistributedLog on BookKeeper")
		},
	},
}
