package target

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// The bounds of a target.
const (
	MaxNodes     = 9
	MaxEndpoints = 100
	MaxProcesses = 100

	maxName = 64
	maxText = 4096 // bytes of an endpoint, a path or a setting's name
)

// Of returns the target of a system without settings: a cluster of three nodes that plimsoll
// starts.
func Of(system string) *Target {
	t := defaults()
	t.Name, t.System = system, system
	return t
}

// defaults returns the target of an empty file, which names no system yet.
func defaults() *Target {
	t := &Target{}
	t.keys().SetDefaults()
	return t
}

// Parse reads a target from YAML and checks every rule that needs no system.
// The file is named in errors only. The error is a strict.Violations with
// everything that is wrong.
func Parse(fileName string, src []byte) (*Target, error) {
	return parse(fileName, src, nil)
}

// parse is Parse. It also checks the name of the system against systemNames, if there are any.
func parse(fileName string, src []byte, systemNames []string) (*Target, error) {
	t := defaults()
	keys := t.keys()
	doc := strict.Decode(fileName, src, &keys,
		"a target needs at least its system: see docs/TARGET.md")
	if doc.Broken() {
		return nil, doc.Err()
	}
	t.checkSpelling(doc)
	t.resolve(doc)
	t.check(doc)
	if len(systemNames) > 0 && t.System != "" && !slices.Contains(systemNames, t.System) {
		doc.Reject("system",
			"is unknown: "+strict.Unknown("system", t.System, systemNames))
	}
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// checkSpelling checks which keys of the file go together, before defaults that depend on
// other keys are known.
func (t *Target) checkSpelling(doc *strict.Document) {
	if doc.Has("endpoints") && doc.Has("testbed") {
		doc.Reject("testbed", notBesideEndpoints)
	}
	if doc.Has("endpoints") && len(t.Endpoints) == 0 {
		doc.Reject("endpoints",
			"is empty: list host:port, or remove the key and plimsoll starts a cluster")
	}
	if doc.Has("name") && t.Name == "" {
		doc.Reject("name", "is empty: give one or remove the key")
	}
}

// resolve sets the fields that follow from other keys.
func (t *Target) resolve(doc *strict.Document) {
	t.Name = cmp.Or(t.Name, t.System)
	t.TLS.Enabled = doc.Has("tls")
	if doc.Has("endpoints") {
		t.Testbed = Testbed{}
	}
	if len(t.Settings) == 0 {
		t.Settings = nil // an empty mapping means the same as none
	}
	if len(t.Processes) == 0 {
		t.Processes = nil
	}
}

// Find returns the target that -t names, a system or the path of a file, and the YAML that it
// was read from. systemNames are the existing systems. The error is a strict.Violations when a
// file does not hold a valid target, and one sentence when there is no such file or system.
func Find(nameOrPath string, systemNames []string) (t *Target, source string, err error) {
	if slices.Contains(systemNames, nameOrPath) {
		t = Of(nameOrPath)
		return t, "system: " + strict.Quote(nameOrPath) + "\n", nil
	}
	if nameOrPath == "" {
		return nil, "", fmt.Errorf("the target is empty: name a file, or one of the systems %s",
			strings.Join(systemNames, ", "))
	}
	if !strict.IsPath(nameOrPath) {
		return nil, "", errors.New(strict.Unknown("system", nameOrPath, systemNames))
	}
	src, err := strict.ReadFile(nameOrPath)
	if err != nil {
		return nil, "", fmt.Errorf("target file %w", err)
	}
	t, err = parse(nameOrPath, src, systemNames)
	if err != nil {
		return nil, "", err
	}
	return t, string(src), nil
}
