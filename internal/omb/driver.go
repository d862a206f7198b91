package omb

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Driver is a translated OMB driver file.
type Driver struct {
	Target *target.Target
	// Level is the durability level of the driver's settings, and Why names the settings that
	// it follows from. Weaker: the settings give no level, and this one is the nearest.
	Level  workload.Level
	Why    string
	Weaker bool
	Notes  []string // keys that could not be translated, or mean something else here
}

// Head has the keys that every driver file has. The keys of a driver class embed it.
type Head struct {
	Name        string `yaml:"name"`
	DriverClass string `yaml:"driverClass"`
}

const classPrefix = "io.openmessaging.benchmark.driver."

// ParseDriver translates an OMB driver file into a target of one of the dialects' systems. The
// target names environment variables in place of secrets. The error is a strict.Violations. It
// shows no line of the file, because that could hold a secret.
func ParseDriver(dialects Dialects, fileName string, src []byte) (*Driver, error) {
	d := &DriverFile{fileName: fileName, src: src, driven: dialects.titles(),
		out: &Driver{Target: &target.Target{}}}
	doc := strict.DecodeSparse(fileName, src, &d.head,
		"a driver file needs at least its driverClass")
	if doc.Broken() {
		return nil, d.hidden(doc.Err())
	}
	class := strings.TrimPrefix(d.head.DriverClass, classPrefix)
	dialect, translate, known := dialects.translator(class)
	if !known {
		at := doc.At("driverClass")
		message := "driverClass is missing: it says which of OMB's drivers the file is for"
		if class != "" {
			message = "driverClass: " + strict.Unknown("driver", class,
				slices.Sorted(slices.Values(dialects.classes())))
		}
		return nil, strict.Violations{
			{File: fileName, Line: at.Line, Column: at.Column, Message: message}}
	}
	t := d.out.Target
	t.System = dialect.System
	t.Name = plainName(
		cmp.Or(d.head.Name, strings.TrimSuffix(filepath.Base(fileName), filepath.Ext(fileName))))
	translate(d)
	if d.doc != nil && d.doc.Err() != nil {
		return nil, d.hidden(d.doc.Err())
	}
	if d.refusal != "" {
		at := doc.At("driverClass")
		return nil, strict.Violations{
			{File: fileName, Line: at.Line, Column: at.Column, Message: d.refusal}}
	}
	if len(t.Endpoints) == 0 {
		t.Testbed = target.Of(t.System).Testbed
		d.Note("the file names no servers: plimsoll starts a cluster of its own")
	}
	if err := t.Validate(); err != nil {
		return nil, d.hidden(err)
	}
	d.settle(dialect.system)
	return d.out, nil
}

// hidden removes the excerpts from violations, and names their file.
func (d *DriverFile) hidden(err error) error {
	var bad strict.Violations
	if !errors.As(err, &bad) {
		return err
	}
	bad = slices.Clone(bad)
	for i := range bad {
		bad[i].File, bad[i].Excerpt = d.fileName, ""
	}
	return bad
}

// DriverFile is a driver file during its translation: a Dialect reads its keys and sets their
// meaning.
type DriverFile struct {
	fileName string
	src      []byte
	head     Head
	driven   string           // the systems that plimsoll drives, for a sentence
	doc      *strict.Document // nil: the file's own keys were not looked at
	refusal  string           // why there can be no target
	from     []string         // the file's key of each setting of the target
	out      *Driver
}

// Decode reads the file into the keys of its driver class, a struct that embeds Head. It
// returns false when the keys cannot be read; then there is nothing to translate.
func (d *DriverFile) Decode(into any) bool {
	d.doc = strict.DecodeSparse(d.fileName, d.src, into)
	return !d.doc.Broken()
}

// Has reports whether the file has the key at a path. Call it only after Decode.
func (d *DriverFile) Has(path string) bool { return d.doc.Has(path) }

// Reject records a mistake in a key's value. Call it only after Decode.
func (d *DriverFile) Reject(path, message string) { d.doc.Reject(path, message) }

// Undriven refuses a driver of a system that plimsoll cannot measure.
func (d *DriverFile) Undriven(title string) {
	d.refusal = fmt.Sprintf("this is a driver file for %s, a system that plimsoll does not drive "+
		"yet, so there is no target to write: plimsoll drives %s", title, d.driven)
}

// Note adds a note to the target on a key that could not be translated or has another meaning
// here.
func (d *DriverFile) Note(format string, args ...any) {
	d.out.Notes = append(d.out.Notes, printable(fmt.Sprintf(format, args...)))
}

// Set sets a setting of the target, which follows from a key of the file.
func (d *DriverFile) Set(from, name, value string) {
	if !strict.IsText(value) {
		d.Note("%s is left out: it is not printable text", from)
		return
	}
	d.out.Target.Settings = append(d.out.Target.Settings, target.Setting{Name: name, Value: value})
	d.from = append(d.from, from)
}

// settle leaves out the settings that the system refuses, alone or beside the others, each with a
// note.
func (d *DriverFile) settle(s system.System) {
	t := d.out.Target
	for range t.Settings {
		violations := d.refused(s, t.Settings)
		if len(violations) == 0 {
			return
		}
		at := violations[0].Line - 1
		if at < 0 { // of a setting that the file leaves at its default
			at = slices.IndexFunc(t.Settings, func(one target.Setting) bool {
				without := slices.DeleteFunc(slices.Clone(t.Settings),
					func(o target.Setting) bool { return o.Name == one.Name })
				return len(d.refused(s, without)) < len(violations)
			})
		}
		if at < 0 || at >= len(t.Settings) {
			return
		}
		name := t.Settings[at].Name
		rule := strings.TrimPrefix(violations[0].Message, fmt.Sprintf("setting %q: ", name))
		d.Note("%s is left out: %s %s; the default is %s", d.from[at], name, rule,
			defaultOf(s, name))
		t.Settings = slices.Delete(t.Settings, at, at+1)
		d.from = slices.Delete(d.from, at, at+1)
	}
}

func defaultOf(s system.System, name string) string {
	for _, one := range s.Describe().Settings {
		if one.Name == name {
			return one.Default
		}
	}
	return "none"
}

// refused returns the violations of settings. The line of each is the place of the setting among
// them, from 1.
func (d *DriverFile) refused(s system.System, settings []target.Setting) strict.Violations {
	given := slices.Clone(settings)
	for i := range given {
		given[i].At = target.Place{Line: i + 1}
	}
	resolved, err := system.Resolve(s.Describe().Settings, given)
	if err == nil {
		err = s.Check(system.Check{Settings: resolved, Durability: d.out.Level,
			Delivery: workload.AtLeastOnce, Nodes: d.out.Target.Testbed.Nodes})
	}
	var violations strict.Violations
	errors.As(err, &violations)
	return violations
}

// IsSet reports whether the target has a setting.
func (d *DriverFile) IsSet(name string) bool {
	return slices.ContainsFunc(d.out.Target.Settings,
		func(s target.Setting) bool { return s.Name == name })
}

// SetLevel sets the durability level of the file's settings, and the reason.
func (d *DriverFile) SetLevel(l workload.Level, why string) {
	d.out.Level, d.out.Why = l, printable(why)
}

// SetNearest says that the file's settings are weaker than every durability level, and names the
// nearest one.
func (d *DriverFile) SetNearest(l workload.Level, why string) {
	d.SetLevel(l, why)
	d.out.Weaker = true
}

// printable makes text of the file safe for a comment and for a terminal. By the escapes of
// properties, the text may hold any character.
func printable(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))), " ")
}

// Endpoint adds the address of a server, without any user or password in it.
func (d *DriverFile) Endpoint(address string) {
	address = strings.TrimSpace(address)
	scheme, rest, has := strings.Cut(address, "://")
	if !has {
		scheme, rest = "", address
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = rest[i+1:]
		d.Secret("the address of a server", true)
	}
	if has {
		rest = scheme + "://" + rest
	}
	t := d.out.Target
	if rest != "" && !slices.Contains(t.Endpoints, rest) {
		t.Endpoints = append(t.Endpoints, rest)
	}
}

// Secret makes the target name environment variables in place of a secret of the driver file.
func (d *DriverFile) Secret(where string, user bool) {
	prefix := "OMB_" + strings.ToUpper(d.out.Target.System)
	c := &d.out.Target.Credentials
	if c.PasswordEnv != "" {
		return
	}
	c.PasswordEnv = prefix + "_PASSWORD"
	names := c.PasswordEnv
	if user {
		c.UserEnv = prefix + "_USER"
		names = c.UserEnv + " and " + names
	}
	d.Note("%s holds a secret, which is not written here: export %s", where, names)
}

// Encrypt turns TLS on. caFile is the authority's certificate; empty: the authorities that the
// machine trusts.
func (d *DriverFile) Encrypt(caFile string) {
	d.out.Target.TLS.Enabled, d.out.Target.TLS.CAFile = true, caFile
}

// YAML returns the target file, with its notes as comments at its beginning.
func (d *Driver) YAML() string {
	var b strings.Builder
	comment := func(text string) {
		for _, line := range wrapped(text, 100) {
			b.WriteString("# " + line + "\n")
		}
	}
	comment("From an OpenMessaging Benchmark driver file.")
	amount := "amount to: --durability %d (%s), because %s."
	if d.Weaker {
		amount = "are weaker than every durability level; the nearest is: --durability %d (%s). " +
			"The reason: %s."
	}
	comment(fmt.Sprintf("Its settings "+amount, d.Level, d.Level.Meaning(), d.Why))
	for _, note := range d.Notes {
		comment("Note: " + note + ".")
	}
	return b.String() + d.Target.YAML()
}

// wrapped breaks text into lines.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
