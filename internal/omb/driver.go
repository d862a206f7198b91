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

// Driver is an OMB driver file, translated.
type Driver struct {
	Target *target.Target
	// Level is the durability level that the driver's settings amount to, and
	// Why the settings that it follows from.
	Level workload.Level
	Why   string
	Notes []string // what could not be translated, or means something else here
}

// head is what every driver file has.
type head struct {
	Name        string `yaml:"name"`
	DriverClass string `yaml:"driverClass"`
}

const classPrefix = "io.openmessaging.benchmark.driver."

// translators turn the files of a driver class into targets.
var translators = map[string]func(*driver){
	"kafka.KafkaBenchmarkDriver":           (*driver).kafka,
	"redpanda.RedpandaBenchmarkDriver":     (*driver).kafka,
	"pulsar.PulsarBenchmarkDriver":         (*driver).pulsar,
	"rabbitmq.RabbitMqBenchmarkDriver":     (*driver).rabbitmq,
	"nats.NatsBenchmarkDriver":             (*driver).nats,
	"redis.RedisBenchmarkDriver":           (*driver).redis,
	"artemis.ArtemisBenchmarkDriver":       (*driver).artemis,
	"jms.JMSBenchmarkDriver":               (*driver).undriven,
	"mqtt5.MqttBenchmarkDriver":            (*driver).undriven,
	"rocketmq.RocketMQBenchmarkDriver":     (*driver).undriven,
	"rocketmq.RocketMQ5BenchmarkDriver":    (*driver).undriven,
	"pravega.PravegaBenchmarkDriver":       (*driver).undriven,
	"bookkeeper.BookkeeperBenchmarkDriver": (*driver).undriven,
	"kop.KopBenchmarkDriver":               (*driver).undriven,
	"nsq.NsqBenchmarkDriver":               (*driver).undriven,
}

// ParseDriver translates an OMB driver file. Secrets in it are left out of the
// target, which names environment variables in their stead. The error is a
// strict.Violations; it shows no line of the file, because that could hold a
// secret.
func ParseDriver(fileName string, src []byte) (*Driver, error) {
	d := &driver{fileName: fileName, src: src, out: &Driver{Target: &target.Target{}}}
	doc := strict.DecodeSparse(fileName, src, &d.head)
	if doc.Broken() {
		return nil, d.hidden(doc.Err())
	}
	class := strings.TrimPrefix(d.head.DriverClass, classPrefix)
	translate, known := translators[class]
	if !known {
		at := doc.At("driverClass")
		message := "driverClass is missing: it says which of OMB's drivers the file is for"
		if class != "" {
			message = "driverClass: " + strict.Unknown("driver", class, driverNames())
		}
		return nil, strict.Violations{{File: fileName, Line: at.Line, Column: at.Column, Message: message}}
	}
	t := d.out.Target
	t.Name = plainName(cmp.Or(d.head.Name, strings.TrimSuffix(filepath.Base(fileName), filepath.Ext(fileName))))
	translate(d)
	if d.doc != nil && d.doc.Err() != nil {
		return nil, d.hidden(d.doc.Err())
	}
	if d.refusal != "" {
		at := doc.At("driverClass")
		return nil, strict.Violations{{File: fileName, Line: at.Line, Column: at.Column, Message: d.refusal}}
	}
	if len(t.Endpoints) == 0 {
		t.Testbed = target.Of(t.System).Testbed
		d.note("the file names no servers: plimsoll starts a cluster of its own")
	}
	if err := t.Validate(); err != nil {
		return nil, d.hidden(err)
	}
	return d.out, nil
}

func driverNames() []string {
	var names []string
	for name := range translators {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// hidden takes the excerpts from violations, and says which file they are of.
func (d *driver) hidden(err error) error {
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

// driver is a driver file on its way.
type driver struct {
	fileName string
	src      []byte
	head     head
	doc      *strict.Document // nil: the file's own keys were not looked at
	refusal  string           // why there can be no target
	out      *Driver
}

// decode reads the file into the keys of its driver class.
func (d *driver) decode(into any) bool {
	d.doc = strict.DecodeSparse(d.fileName, d.src, into)
	return !d.doc.Broken()
}

func (d *driver) note(format string, args ...any) {
	d.out.Notes = append(d.out.Notes, printable(fmt.Sprintf(format, args...)))
}

func (d *driver) set(name, value string) {
	d.out.Target.Settings = append(d.out.Target.Settings, target.Setting{Name: name, Value: value})
}

func (d *driver) level(l workload.Level, why string) { d.out.Level, d.out.Why = l, printable(why) }

// printable makes text of the file safe for a comment and for a terminal: what
// stands in it may hold any character, by properties' escapes.
func printable(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))), " ")
}

// endpoint adds the address of a server, without any user or password in it.
func (d *driver) endpoint(address string) {
	address = strings.TrimSpace(address)
	scheme, rest, has := strings.Cut(address, "://")
	if !has {
		scheme, rest = "", address
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = rest[i+1:]
		d.secret("the address of a server", true)
	}
	if has {
		rest = scheme + "://" + rest
	}
	t := d.out.Target
	if rest != "" && !slices.Contains(t.Endpoints, rest) {
		t.Endpoints = append(t.Endpoints, rest)
	}
}

// secret makes the target name environment variables in place of a secret that
// stands in the driver file.
func (d *driver) secret(where string, user bool) {
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
	d.note("%s holds a secret, which is not written here: export %s", where, names)
}

// encrypted makes connections use TLS.
func (d *driver) encrypted() { d.out.Target.TLS.Enabled = true }

// YAML is the target file, with its notes as comments before it.
func (d *Driver) YAML() string {
	var b strings.Builder
	comment := func(text string) {
		for _, line := range wrapped(text, 100) {
			b.WriteString("# " + line + "\n")
		}
	}
	comment("From an OpenMessaging Benchmark driver file.")
	comment(fmt.Sprintf("Its settings amount to: --durability %d (%s), because %s.", d.Level, d.Level.Meaning(), d.Why))
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
