package strict

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Pairs is a mapping of names to single values in written order.
type Pairs []Pair

// Pair is one name with its value as it was written, without quotes.
type Pair struct {
	Name  string
	Value string
	At    Place // of the value
}

// With returns the pairs and later ones behind them, which replace those of the same name.
func (p Pairs) With(later Pairs) Pairs {
	out := slices.Clone(p)
	for _, one := range later {
		out = slices.DeleteFunc(out, func(has Pair) bool { return has.Name == one.Name })
		out = append(out, one)
	}
	return out
}

// Refused is the type of a field whose key must not be given. The tag refuse gives the reason.
// No error shows the value of such a key, because it may be a secret.
type Refused struct{}

var (
	pairsType   = reflect.TypeFor[Pairs]()
	keysType    = reflect.TypeFor[Keys]()
	refusedType = reflect.TypeFor[Refused]()
)

func (d *Document) decodeRoot(root *node, into any) {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.Elem().Kind() != reflect.Struct &&
		target.Elem().Type() != keysType {
		panic(fmt.Sprintf("strict: cannot decode into %T", into))
	}
	if root.shape != mapping {
		d.add(root.line, root.column, fmt.Sprintf(
			"must be a mapping of keys to values, not %s: write `key: value` lines", root.shape))
		return
	}
	if keys, are := target.Elem().Interface().(Keys); are {
		d.secretive = slices.ContainsFunc(keys, func(k Key) bool { return k.Refuse != "" })
	}
	d.structure(root, target.Elem(), "")
}

func (d *Document) add(line, column int, message string) {
	d.found = append(d.found, fault{line, column, message})
}

// fail records that the value at the path could not be decoded.
func (d *Document) fail(n *node, path, message string) {
	d.failed[path] = true
	d.add(n.line, n.column, path+message)
}

// value decodes a node into a settable value.
func (d *Document) value(n *node, into reflect.Value, path, short string) {
	if n.shape == nothing && d.emptyIsAbsent {
		return
	}
	d.places[path] = spot{n.line, n.column}
	if n.shape == nothing {
		d.fail(n, path, " has no value: write one or remove the key")
		return
	}
	if reader, reads := into.Addr().Interface().(encoding.TextUnmarshaler); reads {
		d.readText(n, reader, path)
		return
	}
	switch {
	case into.Type() == pairsType:
		d.pairs(n, into, path)
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.value(n, into.Elem(), path, short)
	case into.Kind() == reflect.Slice && into.Type() != keysType:
		d.slice(n, into, path)
	case into.Kind() == reflect.Struct || into.Type() == keysType:
		if n.shape == single && short != "" {
			n = &node{shape: mapping, line: n.line, column: n.column,
				keys: []entry{{name: short, line: n.line, column: n.column, value: n}}}
		}
		if d.shaped(n, mapping, path) {
			d.structure(n, into, path)
		}
	default:
		if d.shaped(n, single, path) {
			d.scalar(n, into, path)
		}
	}
}

func (d *Document) shaped(n *node, want shape, path string) bool {
	if n.shape == want {
		return true
	}
	d.fail(n, path, fmt.Sprintf(" must be %s, not %s", want, n.shape))
	if d.secretive && want == mapping {
		d.source.hide(n.line, n.column) // a password in the place of the keys that name it
	}
	return false
}

// structure decodes a mapping into a struct or into Keys, key by key.
func (d *Document) structure(n *node, into reflect.Value, path string) {
	fields, names := fieldsOf(into)
	lines := map[string]int{}
	for _, key := range n.keys {
		field, known := fields[key.name]
		if known {
			key.name = field.name // it may be an old one
		}
		if d.repeated(key, path, lines) {
			continue
		}
		if !known && d.family(key, into, path) {
			continue
		}
		if !known {
			d.add(key.line, key.column, d.unknownKey(key, path, names))
			if d.secretive {
				d.hideValue(key)
			}
			continue
		}
		inner := join(path, key.name)
		if field.into.Type() == refusedType {
			d.refuse(key, inner, field.refuse)
			continue
		}
		d.value(key.value, field.into, inner, field.short)
		if key.value.shape == mapping || key.value.shape == list {
			// The key says more about a whole mapping or list than its first line does.
			d.places[inner] = spot{key.line, key.column}
		}
	}
}

func (d *Document) refuse(key entry, path, why string) {
	d.places[path] = spot{key.line, key.column}
	d.fail(&node{line: key.line, column: key.column}, path, " "+why)
	d.hideValue(key)
}

// hideValue keeps a key's value, and what follows it in its line, out of all excerpts.
func (d *Document) hideValue(key entry) {
	d.source.hide(key.line, key.column+len([]rune(key.name))+1)
}

func (d *Document) repeated(key entry, path string, lines map[string]int) bool {
	first, again := lines[key.name]
	if !again {
		lines[key.name] = key.line
		return false
	}
	d.add(key.line, key.column, fmt.Sprintf(
		"duplicate key %q: it is given on line %d already, keep one", join(path, key.name), first))
	return true
}

// field is the destination of a key's value.
type field struct {
	name, short, refuse string
	into                reflect.Value
}

// fieldsOf returns the fields by the names of their keys, old names included, and the names
// that an error may suggest.
func fieldsOf(v reflect.Value) (fields map[string]field, names []string) {
	fields = map[string]field{}
	if v.Type() == keysType {
		for _, f := range v.Interface().(Keys).fields() {
			fields[f.name] = f
			if f.refuse == "" {
				names = append(names, f.name)
			}
		}
		return fields, names
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		tag := f.Tag.Get
		name := tag("yaml")
		if name == "" {
			continue
		}
		at := field{name: name, short: tag("short"), refuse: tag("refuse"),
			into: v.FieldByIndex(f.Index)}
		fields[name] = at
		if old := tag("was"); old != "" {
			fields[old] = at
		}
		if f.Type != refusedType {
			names = append(names, name)
		}
	}
	return fields, names
}

// family adds a key to the field of its family, if the struct has one, and reports whether it has.
func (d *Document) family(key entry, into reflect.Value, path string) bool {
	if into.Type() == keysType {
		return false
	}
	for _, f := range reflect.VisibleFields(into.Type()) {
		prefix := f.Tag.Get("family")
		if prefix == "" || !strings.HasPrefix(key.name, prefix) {
			continue
		}
		d.places[join(path, key.name)] = spot{key.line, key.column}
		names := into.FieldByIndex(f.Index)
		pairs := append(names.Interface().(Pairs),
			Pair{key.name, key.value.text, d.At(join(path, key.name))})
		names.Set(reflect.ValueOf(pairs))
		return true
	}
	return false
}

// unknownKey says what a key could have been. The list of all keys stands in the first of the
// errors about one mapping.
func (d *Document) unknownKey(key entry, path string, valid []string) string {
	where := ""
	if path != "" {
		where = " in " + path
	}
	if near := Nearest(key.name, valid); near != "" {
		return fmt.Sprintf("unknown key %q%s: did you mean %q?", key.name, where, near)
	}
	list := strings.Join(valid, ", ")
	if line, listed := d.listed[list]; listed {
		return fmt.Sprintf("unknown key %q%s: it is not among the keys listed for line %d",
			key.name, where, line)
	}
	if d.listed == nil {
		d.listed = map[string]int{}
	}
	d.listed[list] = key.line
	return fmt.Sprintf("unknown key %q%s: the keys are %s", key.name, where, list)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (d *Document) slice(n *node, into reflect.Value, path string) {
	if !d.shaped(n, list, path) {
		return
	}
	items := reflect.MakeSlice(into.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		d.value(item, items.Index(i), fmt.Sprintf("%s[%d]", path, i), "")
	}
	into.Set(items)
}

func (d *Document) pairs(n *node, into reflect.Value, path string) {
	if !d.shaped(n, mapping, path) {
		return
	}
	pairs := Pairs{}
	lines := map[string]int{}
	for _, key := range n.keys {
		inner := join(path, key.name)
		switch {
		case d.repeated(key, path, lines):
		case key.name == "":
			d.add(key.line, key.column,
				fmt.Sprintf("a name in %s is empty: write one or remove the line", path))
		case key.value.shape == nothing:
			d.fail(key.value, inner, " has no value: write one or remove the key")
		case d.shaped(key.value, single, inner):
			d.places[inner] = spot{key.value.line, key.value.column}
			pairs = append(pairs, Pair{key.name, key.value.text, d.At(inner)})
		}
	}
	into.Set(reflect.ValueOf(pairs))
}

func (d *Document) readText(n *node, into encoding.TextUnmarshaler, path string) {
	if !d.shaped(n, single, path) {
		return
	}
	if err := into.UnmarshalText([]byte(n.text)); err != nil {
		d.fail(n, path, ": "+err.Error())
	}
}

// scalar decodes a single value into one of the basic kinds.
func (d *Document) scalar(n *node, into reflect.Value, path string) {
	kinds := []reflect.Kind{reflect.Int, reflect.Int64}
	switch kind := into.Kind(); {
	case kind == reflect.String:
		into.SetString(n.text)
	case kind == reflect.Bool:
		if n.text != "true" && n.text != "false" {
			d.fail(n, path, fmt.Sprintf(": %s is not true or false", quote(n.text)))
			return
		}
		into.SetBool(n.text == "true")
	case slices.Contains(kinds, kind):
		v, err := strconv.ParseInt(n.text, 10, into.Type().Bits())
		if err != nil {
			d.fail(n, path, fmt.Sprintf(": %s is not a whole number", quote(n.text)))
			return
		}
		into.SetInt(v)
	case kind == reflect.Uint64:
		v, err := strconv.ParseUint(n.text, 10, 64)
		if err != nil {
			d.fail(n, path, fmt.Sprintf(": %s is not a whole number from 0 to %d", quote(n.text),
				uint64(math.MaxUint64)))
			return
		}
		into.SetUint(v)
	case kind == reflect.Float64:
		v, err := strconv.ParseFloat(n.text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			d.fail(n, path, fmt.Sprintf(": %s is not a number", quote(n.text)))
			return
		}
		into.SetFloat(v)
	default:
		panic(fmt.Sprintf("strict: cannot decode into %s", into.Type()))
	}
}

// quote repeats a wrong value, shortened when it is long.
func quote(s string) string {
	const shown = 40
	if runes := []rune(s); len(runes) > shown {
		return fmt.Sprintf("%q...", string(runes[:shown]))
	}
	return fmt.Sprintf("%q", s)
}
