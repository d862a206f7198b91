package strict

import (
	"strings"
)

// Place is a position in a file. Lines and columns count from 1, columns in characters. The
// zero Place means "not from a file".
type Place struct {
	File         string
	Line, Column int
	Excerpt      string // the source line with a marker, or empty
}

// Document is a decoded input: its violations so far, and the place of each of its values.
type Document struct {
	source *source
	broken bool
	places map[string]spot // by path
	failed map[string]bool // paths whose value was not taken, or rejected
	found  []fault
	listed map[string]int // lists of keys that an error shows, and the line of that error
	file   string
	// emptyIsAbsent: a key without a value leaves its field alone.
	emptyIsAbsent bool
	// secretive: some keys are refused because their values may be secrets, so the value of an
	// unknown key may be one too, and is not shown.
	secretive bool
}

// spot is a line and a column, both from 1.
type spot struct{ line, column int }

// Decode decodes the YAML mapping in src into a pointer to a struct or to Keys. Keys that are
// absent leave their fields unchanged, and so do wrong values. The struct's fields carry tags:
//
//	yaml:"name"    the key; a field without it is left alone
//	was:"name"     an old name of the key, which is still read
//	short:"name"   on a nested struct: a single value stands for this one of its keys
//	refuse:"why"   on a Refused field: the key must not be given, and why
//	family:"pre"   on Pairs: takes all keys that begin so and that no other field has
//
// Fields are strings, bools, integers, floats, implementations of encoding.TextUnmarshaler,
// nested structs, pointers and slices of all these, and Pairs. Decode panics on any other type,
// which is a mistake in the program.
//
// Paths name values as people write them: load.steps[0].rate.
//
// least says in the error for an empty file what such a file needs; without it, {} is enough.
func Decode(file string, src []byte, into any, least ...string) *Document {
	return (&Document{file: file, places: map[string]spot{}, failed: map[string]bool{}}).decode(src,
		into, least)
}

// DecodeSparse is Decode for files of other programs, in which a key without a value, or with
// null, counts as absent.
func DecodeSparse(file string, src []byte, into any, least ...string) *Document {
	return (&Document{file: file, places: map[string]spot{}, failed: map[string]bool{},
		emptyIsAbsent: true}).decode(src, into, least)
}

func (d *Document) decode(src []byte, into any, least []string) *Document {
	text, unreadable := clean(src)
	if unreadable != nil {
		return d.stop(*unreadable)
	}
	d.source = newSource(text)
	root, faults := parse(text)
	if len(faults) > 0 {
		if len(least) > 0 && strings.HasPrefix(faults[0].message, isEmpty) {
			faults[0].message = isEmpty + least[0]
		}
		return d.stop(faults...)
	}
	d.decodeRoot(root, into)
	return d
}

// Unplaced returns a document for values that come from no file: rejected rules have no place.
func Unplaced() *Document { return &Document{failed: map[string]bool{}} }

// Validate returns the errors that check rejects, for values that come from no file.
func Validate(check func(*Document)) error {
	d := Unplaced()
	check(d)
	return d.Err()
}

func (d *Document) stop(faults ...fault) *Document {
	d.broken, d.found = true, faults
	return d
}

// Broken reports that the input could not be read as YAML at all, so that
// nothing was decoded and there is nothing to check.
func (d *Document) Broken() bool { return d.broken }

// Has reports whether the input gives the value at the path.
func (d *Document) Has(path string) bool {
	_, has := d.places[path]
	return has
}

// Failed reports whether the value at the path was not decoded or was rejected, or a value
// within it or around it.
func (d *Document) Failed(path string) bool {
	for failed := range d.failed {
		if Within(failed, path) || Within(path, failed) {
			return true
		}
	}
	return false
}

// Within reports whether a path is another one or lies in it: load.steps[0].rate lies in
// load.steps.
func Within(inner, outer string) bool {
	rest, begins := strings.CutPrefix(inner, outer)
	return begins && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// At returns the place of the value at the path. When the input does not give the value, the
// Place has a file and no line.
func (d *Document) At(path string) Place {
	at, has := d.places[path]
	if !has {
		return Place{File: d.file}
	}
	return Place{File: d.file, Line: at.line, Column: at.column,
		Excerpt: d.source.excerpt(at.line, at.column)}
}

// Reject records that the value at the path breaks a rule: "load.rate" and "must be above 0"
// become one sentence at the place of the value. It ignores a value that has Failed already,
// because a second violation mostly follows from the first.
func (d *Document) Reject(path, message string) {
	if d.Failed(path) {
		return
	}
	if path != "" {
		message = path + " " + message
		d.failed[path] = true
	}
	at := d.places[path]
	d.found = append(d.found, fault{at.line, at.column, message})
}

// RejectSecret is Reject for a value that may hold a secret: no excerpt shows the value or the
// rest of its line.
func (d *Document) RejectSecret(path, message string) {
	d.Reject(path, message)
	if at, has := d.places[path]; has {
		d.source.hide(at.line, at.column)
	}
}

// mostViolations bounds the violations that are reported of one input. A completely wrong file
// needs no line for each of its lines.
const mostViolations = 50

// Err returns the violations, sorted, as Violations, or nil. Of very many violations it returns
// the first, and says that there are more.
func (d *Document) Err() error {
	if len(d.found) == 0 {
		return nil
	}
	all := make(Violations, len(d.found))
	for i, f := range d.found {
		all[i] = Violation{File: d.file, Line: f.line, Column: f.column, Message: f.message}
	}
	all = all.Sorted()
	if len(all) > mostViolations {
		all = append(all[:mostViolations:mostViolations],
			Violation{File: d.file, Message: "more is wrong: correct these first"})
	}
	for i, v := range all {
		if d.source != nil && v.Line > 0 {
			all[i].Excerpt = d.source.excerpt(v.Line, v.Column)
		}
	}
	return all
}
