package target

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
)

// YAML prints a valid target with its defaults spelled out, so that Parse reads
// back the same value but for the places of its settings. It shows where
// secrets are and never the secrets.
func (t *Target) YAML() string {
	var b strings.Builder
	line := func(indent, key, value string) {
		fmt.Fprintf(&b, "%s%s: %s\n", indent, strict.Quote(key), strict.Quote(value))
	}
	if t.Name != "" {
		line("", "name", t.Name)
	}
	line("", "system", t.System)
	if len(t.Endpoints) > 0 {
		b.WriteString("endpoints:\n")
		for _, endpoint := range t.Endpoints {
			b.WriteString("  - " + strict.Quote(endpoint) + "\n")
		}
	} else {
		fmt.Fprintf(&b, "testbed:\n  nodes: %d\n", t.Testbed.Nodes)
		if t.Testbed.Dir != "" {
			line("  ", "dir", t.Testbed.Dir)
		}
	}
	if len(t.Settings) > 0 {
		b.WriteString("settings:\n")
		for _, s := range t.Settings {
			line("  ", s.Name, s.Value)
		}
	}
	if t.Credentials != (Credentials{}) {
		b.WriteString("credentials:\n")
	}
	for _, r := range t.Credentials.references() {
		if r.env != "" {
			line("  ", r.key+"_env", r.env)
		}
		if r.path != "" {
			line("  ", r.key+"_file", r.path)
		}
	}
	b.WriteString(t.TLS.yaml())
	if len(t.Processes) > 0 {
		b.WriteString("processes:\n")
		for _, p := range t.Processes {
			fmt.Fprintf(&b, "  - {name: %s, pid: %d}\n", strict.Quote(p.Name), p.PID)
		}
	}
	return b.String()
}
