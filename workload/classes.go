package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Class is a kind of messages, which some of each topic's producers send.
type Class struct {
	Name  string
	Share float64 // of each topic's producers, and so of its messages
	// Least and Most bound the payload in bytes, drawn evenly between; equal: one size.
	Least, Most int64
}

// maxClasses bounds the classes of a workload: each has histograms of its own.
const maxClasses = 8

// Producers returns how many of so many producers are of the class.
func (c Class) Producers(of int) int { return int(math.Round(c.Share * float64(of))) }

// ClassOf returns the class of a producer of a topic, by its index below Producers; -1: there are
// no classes.
func (w *Workload) ClassOf(producer int) int {
	for i, c := range w.Classes {
		if producer -= c.Producers(w.Producers); producer < 0 {
			return i
		}
	}
	return len(w.Classes) - 1
}

// MessageOf returns the messages of a class.
func (w *Workload) MessageOf(class int) Message {
	c := w.Classes[class]
	if c.Least == c.Most {
		return Message{Size: c.Least, Incompressible: w.Message.Incompressible}
	}
	return Message{Incompressible: w.Message.Incompressible,
		Sizes: &Sizes{Parts: []SizePart{{Share: 1, Least: c.Least, Most: c.Most}}}}
}

// mixed returns the sizes of the messages of all classes together.
func mixed(classes []Class) *Sizes {
	all := &Sizes{}
	for _, c := range classes {
		all.Parts = append(all.Parts, SizePart{Share: c.Share, Least: c.Least, Most: c.Most})
	}
	return all
}

// fileClass is a class as a file has it.
type fileClass struct {
	Name  string            `yaml:"name"`
	Share quantity.Fraction `yaml:"share"`
	Size  sizeRange         `yaml:"size"`
}

func (c fileClass) String() string {
	return fmt.Sprintf("{name: %s, share: %s, size: %s}", strict.Quote(c.Name), c.Share, c.Size)
}

// checkClassSpelling checks which keys go together with the file's classes.
func (f *file) checkClassSpelling(doc *strict.Document) {
	for i := range f.classes {
		require(doc, fmt.Sprintf("classes[%d]", i), "{name: order, share: 20%, size: 10KB}", "name",
			"share", "size")
	}
	if len(f.classes) > 0 && doc.Has("message.size") {
		doc.Reject("message.size", "cannot be combined with classes, which have sizes of their "+
			"own: remove it")
	}
}

// resolveClasses sets the classes of the file, and the sizes that follow from them.
func (f *file) resolveClasses() {
	if len(f.classes) == 0 {
		return
	}
	f.Classes = nil
	for _, c := range f.classes {
		f.Classes = append(f.Classes, Class{Name: c.Name, Share: float64(c.Share),
			Least: c.Size.least, Most: c.Size.most})
	}
	f.Message.Size, f.Message.Sizes = 0, mixed(f.Classes)
}

// checkClasses checks that each class has producers of its own.
func (w *Workload) checkClasses(doc *strict.Document) {
	const path = "classes"
	switch n := len(w.Classes); {
	case n == 0:
		return
	case n > maxClasses:
		doc.Reject(path, fmt.Sprintf("has %d classes: keep them to %d", n, maxClasses))
		return
	case w.Load.Closed != nil:
		doc.Reject(path, "is for loads with a rate: in a closed loop the system decides how many "+
			"messages each producer sends, so remove it, or load.closed")
	}
	names, shares := map[string]bool{}, make([]float64, len(w.Classes))
	for i, c := range w.Classes {
		at := fmt.Sprintf("%s[%d]", path, i)
		shares[i] = c.Share
		if !validClass(c.Name) || names[c.Name] {
			doc.Reject(at+".name", fmt.Sprintf("is %q: write a name of its own for each class, of "+
				"up to %d small letters", strict.Shorten(c.Name), maxClassName))
		}
		names[c.Name] = true
		sizeRange{c.Least, c.Most}.check(doc, at+".size")
		if !c.whole(w.Producers) {
			doc.Reject(at+".share", fmt.Sprintf("is %s of %s, and a producer sends one class: "+
				"write other shares, or %s", quantity.ExactShare(c.Share),
				quantity.Plural(w.Producers, "producer", "producers"), wholeProducers(w.Classes)))
		}
	}
	checkShares(doc, path, shares)
}

const maxClassName = 20

// validClass reports whether a class can have a name: it is a part of the names of its series.
func validClass(name string) bool {
	return name != "" && len(name) <= maxClassName && strings.Trim(name,
		"abcdefghijklmnopqrstuvwxyz") == ""
}

// whole reports whether the class has whole ones of so many producers.
func (c Class) whole(of int) bool {
	const rounding = 1e-6
	exact := c.Share * float64(of)
	return math.Abs(exact-math.Round(exact)) < rounding && c.Producers(of) > 0
}

// wholeProducers says of how many producers each class has whole ones.
func wholeProducers(classes []Class) string {
	const most = 1000
	for n := 1; n <= most; n++ {
		if !slices.ContainsFunc(classes, func(c Class) bool { return !c.whole(n) }) {
			return fmt.Sprintf("producers: a multiple of %d", n)
		}
	}
	return "another number of producers"
}
