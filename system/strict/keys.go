package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Key is a key of a file as data: the variable that receives its value when the file is
// decoded, and that holds its value when the file is printed.
type Key struct {
	// Path names the key as errors do: message.size is the key size in message.
	Path string
	// Into points to the value, which is of a type that Decode fills.
	Into any
	// Short lets a single value replace the mapping that the key is in. The value is then that
	// of this key.
	Short bool
	// Block prints the mapping that the key is in with each of its keys on a line.
	Block bool
	// Hidden keys are read and not printed.
	Hidden bool
	// Empty prints the mapping that the key is in as {} when all keys of it are hidden.
	Empty bool
	// Default is the value of a file without the key, as YAML; empty: none.
	Default string
	// Refuse says why the key must not be given; empty: it may be. Decode never stores or
	// shows the value of a refused key, because it may be a secret. Into is nil.
	Refuse string
}

// Keys are the keys of a file, in the order in which they are printed. The keys of a
// mapping stand together.
type Keys []Key

// groups returns the keys of each mapping by the name of the mapping. A key outside a mapping
// is a group of its own.
func (k Keys) groups() (names []string, groups []Keys) {
	for _, key := range k {
		name, _, _ := strings.Cut(key.Path, ".")
		if len(names) == 0 || names[len(names)-1] != name {
			names, groups = append(names, name), append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], key)
	}
	return names, groups
}

// within returns the keys of a mapping by their paths in it. nested is false when name is not a
// mapping.
func (k Keys) within(name string) (inner Keys, nested bool) {
	inner = slices.Clone(k)
	for i := range inner {
		inner[i].Path, nested = strings.CutPrefix(inner[i].Path, name+".")
	}
	return inner, nested
}

// fields returns the fields of the outermost keys.
func (k Keys) fields() []field {
	var out []field
	names, groups := k.groups()
	for i, name := range names {
		inner, nested := groups[i].within(name)
		if !nested {
			out = append(out, groups[i][0].field())
			continue
		}
		f := field{name: name, into: reflect.ValueOf(&inner).Elem()}
		if short := slices.IndexFunc(inner, func(k Key) bool { return k.Short }); short >= 0 {
			f.short = inner[short].Path
		}
		out = append(out, f)
	}
	return out
}

// field returns the field that receives the value of the key.
func (k Key) field() field {
	if k.Refuse != "" {
		return field{name: k.Path, refuse: k.Refuse, into: reflect.ValueOf(&Refused{}).Elem()}
	}
	return field{name: k.Path, into: reflect.ValueOf(k.Into).Elem()}
}

// SetDefaults gives each key that has a default its default value. It panics when a default
// is not valid, because the defaults are part of the program.
func (k Keys) SetDefaults() {
	pairs := Pairs{}
	for _, key := range k {
		if key.Default != "" {
			pairs = append(pairs, Pair{Name: key.Path, Value: key.Default})
		}
	}
	src, err := SetAll([]byte("{}"), pairs)
	if err == nil {
		err = Decode("the defaults", []byte(src), &k).Err()
	}
	if err != nil {
		panic("strict: the defaults are not valid: " + err.Error())
	}
}

// YAML prints the values that are not hidden. Decode reads them back.
func (k Keys) YAML() string {
	return strings.TrimPrefix(k.block(""), "\n")
}

// block prints keys on lines of their own, indented below their parent.
func (k Keys) block(indent string) string {
	var b strings.Builder
	names, groups := k.shown().groups()
	for i, name := range names {
		b.WriteString("\n" + indent + name + ":" + groups[i].value(name, indent))
	}
	if indent == "" && b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// shown returns the keys that are printed, and the keys whose mapping is printed although they
// are hidden.
func (k Keys) shown() Keys {
	return slices.DeleteFunc(slices.Clone(k), func(key Key) bool {
		return key.Refuse != "" || key.Hidden && !key.Empty
	})
}

// value prints the value of a name: that of its only key, or a mapping.
func (k Keys) value(name, indent string) string {
	inner, nested := k.within(name)
	inner = slices.DeleteFunc(inner, func(key Key) bool { return key.Hidden })
	switch {
	case !nested:
		return k[0].behind(indent)
	case len(inner) == 0:
		return " {}"
	case len(inner) == 1 && inner[0].Short:
		return " " + inner[0].Text()
	case inner[0].Block:
		for i := range inner {
			inner[i].Block = false // only the outermost mapping
		}
		return inner.block(indent + "  ")
	}
	var parts []string
	names, groups := inner.groups()
	for i, name := range names {
		parts = append(parts, name+":"+groups[i].value(name, ""))
	}
	return " {" + strings.Join(parts, ", ") + "}"
}

// behind prints a single value on the key's line, and a list on the lines below it.
func (k Key) behind(indent string) string {
	v := reflect.ValueOf(k.Into).Elem()
	if v.Kind() != reflect.Slice {
		return " " + k.Text()
	}
	out := ""
	if pairs, is := v.Interface().(Pairs); is {
		for _, p := range pairs {
			out += "\n" + indent + "  " + Quote(p.Name) + ": " + Quote(p.Value)
		}
		return out
	}
	for i := range v.Len() {
		out += "\n" + indent + "  - " + text(v.Index(i))
	}
	return out
}

// Plain returns the value on one line, without the quotes that a file may need.
func (k Key) Plain() string {
	if v := reflect.ValueOf(k.Into).Elem(); v.Kind() == reflect.String {
		return v.String()
	}
	return k.Text()
}

// Text returns the value on one line, as a file has it.
func (k Key) Text() string {
	v := reflect.ValueOf(k.Into).Elem()
	if v.Kind() != reflect.Slice {
		return text(v)
	}
	items := make([]string, v.Len())
	for i := range items {
		items[i] = text(v.Index(i))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// text prints a single value. Decode reads the same value back.
func text(v reflect.Value) string {
	if printer, prints := v.Addr().Interface().(fmt.Stringer); prints {
		return printer.String()
	}
	switch v.Kind() {
	case reflect.String:
		return Quote(v.String())
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	panic(fmt.Sprintf("strict: cannot print %s", v.Type()))
}
