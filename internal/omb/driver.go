package omb

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Driver is a translated OMB driver file.
type Driver struct {
	Target *target.Target
	// Level is the durability level of the driver's settings, and Why names the settings that
	// it follows from.
	Level workload.Level
	Why   string
	Notes []string // keys that could not be translated, or mean something else here
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
	doc := strict.DecodeSparse(fileName, src, &d.head)
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

// Set sets a setting of the target.
func (d *DriverFile) Set(name, value string) {
	d.out.Target.Settings = append(d.out.Target.Settings, target.Setting{Name: name, Value: value})
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
	comment(fmt.Sprintf("Its settings amount to: --durability %d (%s), because %s.", d.Level,
		d.Level.Meaning(), d.Why))
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
