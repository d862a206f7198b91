package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Class is a kind of messages, which some of each topic's producers send, or all producers of
// topics of its own.
type Class struct {
	Name string
	// Share is that of each topic's producers, and so of its messages; or, with topics of its own,
	// of all messages.
	Share float64
	// Least and Most bound the payload in bytes, drawn evenly between; equal: one size.
	Least, Most int64
	// Keys replace those of the workload, unless their kind is empty. They have no shares.
	Keys Keys
	// Topics are those of the class alone; 0: it shares the topics of the workload. All classes
	// have some, or none has.
	Topics int
	// Partitions of each of its topics; 0: as many as the workload says.
	Partitions int
}

// MaxClasses bounds the classes of a workload: each has histograms of its own.
const MaxClasses = 8

// Producers returns how many of so many producers are of the class, where classes share topics.
func (c Class) Producers(of int) int { return int(math.Round(c.Share * float64(of))) }

// ClassOf returns the class of a producer of a topic, by its index below Producers; -1: there are
// no classes.
func (w *Workload) ClassOf(topic, producer int) int {
	if w.OwnTopics() {
		return w.KindOf(topic).Class
	}
	for i, c := range w.Classes {
		if producer -= c.Producers(w.Producers); producer < 0 {
			return i
		}
	}
	return len(w.Classes) - 1
}

// HasClass reports whether the workload has a class of a name.
func (w *Workload) HasClass(name string) bool {
	return slices.ContainsFunc(w.Classes, func(c Class) bool { return c.Name == name })
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

// KeysOf returns the keys of the messages of a class; -1: there are no classes.
func (w *Workload) KeysOf(class int) Keys {
	if class < 0 || w.Classes[class].Keys.Kind == "" {
		return w.Keys
	}
	return w.Classes[class].Keys
}

// Keyed reports whether some messages have a key.
func (w *Workload) Keyed() bool {
	return slices.ContainsFunc(w.allKeys(), func(k Keys) bool { return !k.none() })
}

// Keyless reports whether some messages have no key.
func (w *Workload) Keyless() bool { return slices.ContainsFunc(w.allKeys(), Keys.none) }

// allKeys returns the keys of each class.
func (w *Workload) allKeys() (all []Keys) {
	if len(w.Classes) == 0 {
		return []Keys{w.Keys}
	}
	for class := range w.Classes {
		all = append(all, w.KeysOf(class))
	}
	return all
}

func (k Keys) none() bool { return k.Kind == KeysNone || k.Kind == "" }

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
	Keys  classKeys         `yaml:"keys"`

	Topics     quantity.Whole `yaml:"topics"`
	Partitions quantity.Whole `yaml:"partitions"`
}

func (c fileClass) String() string {
	more := ""
	if c.Keys.Kind != "" {
		more = ", keys: " + c.Keys.String()
	}
	if c.Topics > 0 {
		more += ", topics: " + c.Topics.String()
	}
	if c.Partitions > 0 {
		more += ", partitions: " + c.Partitions.String()
	}
	return fmt.Sprintf("{name: %s, share: %s, size: %s%s}", strict.Quote(c.Name), c.Share, c.Size,
		more)
}

// classKeys are the keys of a class: none, or a kind with the number of keys and, for zipf, the
// exponent.
type classKeys Keys

func (k classKeys) String() string {
	switch k.Kind {
	case KeysNone:
		return string(k.Kind)
	case KeysZipf:
		return fmt.Sprintf("%s %d %v", k.Kind, k.Count, k.Exponent)
	}
	return fmt.Sprintf("%s %d", k.Kind, k.Count)
}

// UnmarshalText reads what String returns. The number and the exponent may be absent.
func (k *classKeys) UnmarshalText(text []byte) (err error) {
	words := strings.Fields(string(text))
	*k = classKeys(defaults().Keys)
	most := 2
	if len(words) > 0 {
		k.Kind = KeyKind(words[0])
	}
	switch k.Kind {
	case KeysNone:
		most, k.Count, k.Exponent = 1, 0, 0
	case KeysZipf:
		most = 3
	default:
		k.Exponent = 0
	}
	if len(words) == 0 || len(words) > most {
		return errors.New("must be none, or a kind, the number of keys and, for zipf, the " +
			"exponent, like zipf 100 1.2")
	}
	if len(words) > 1 {
		err = (*quantity.Whole)(&k.Count).UnmarshalText([]byte(words[1]))
	}
	if err == nil && len(words) > 2 {
		k.Exponent, err = strconv.ParseFloat(words[2], 64)
	}
	return err
}

func (k classKeys) check(doc *strict.Document, path string) {
	kinds := []KeyKind{KeysNone, KeysRoundRobin, KeysRandom, KeysZipf}
	if k.Kind == "" || !oneOf(doc, path, k.Kind, kinds) || k.Kind == KeysNone {
		return
	}
	between(doc, path, k.Count, 1, MaxKeys)
	checkExponent(doc, path, Keys(k))
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
	f.checkTopicSpelling(doc)
}

// resolveClasses sets the classes of the file, and the sizes that follow from them.
func (f *file) resolveClasses() {
	if len(f.classes) == 0 {
		return
	}
	f.Classes = nil
	topics := 0
	for _, c := range f.classes {
		f.Classes = append(f.Classes, Class{Name: c.Name, Share: float64(c.Share),
			Least: c.Size.least, Most: c.Size.most, Keys: Keys(c.Keys), Topics: int(c.Topics),
			Partitions: int(c.Partitions)})
		topics += min(int(c.Topics), MaxCount+1)
	}
	if topics > 0 && f.Existing == nil {
		f.Topics = topics
	}
	f.Message.Size, f.Message.Sizes = 0, mixed(f.Classes)
}

// checkClasses checks that each class has producers of its own.
func (w *Workload) checkClasses(doc *strict.Document) {
	const path = "classes"
	switch n := len(w.Classes); {
	case n == 0:
		return
	case n > MaxClasses:
		doc.Reject(path, fmt.Sprintf("has %d classes: keep them to %d", n, MaxClasses))
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
		classKeys(c.Keys).check(doc, at+".keys")
		w.checkClassTopics(doc, at, c)
		if !w.OwnTopics() && !c.whole(w.Producers) {
			doc.Reject(at+".share", fmt.Sprintf("is %s of %s, and a producer sends one class: "+
				"write other shares, or %s", quantity.ExactShare(c.Share),
				quantity.Plural(w.Producers, "producer", "producers"), wholeProducers(w.Classes)))
		}
	}
	checkShares(doc, path, shares)
	w.checkRound(doc)
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
