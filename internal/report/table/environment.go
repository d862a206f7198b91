package table

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Evidence has what the live cluster reported on its durability.
func Evidence(d result.Durability) document.Table {
	t := document.Table{ID: "evidence", Title: "What the live cluster reported",
		Head: document.Heads("fact", "value", "source"), Words: true,
		Empty: "The cluster was not asked, or did not answer."}
	if d.Stated {
		t.Title = "What is stated, because the servers do not show it, and what they reported"
	}
	for _, f := range d.Evidence {
		t.Add(f.Where, f.Name, f.Value, f.Source)
	}
	return t
}

// Settings is every resolved setting.
func Settings(all []result.Setting) document.Table {
	t := document.Table{ID: "settings", Title: "Settings, defaults spelled out", Words: true,
		Head: document.Heads("setting", "value"), Empty: "No settings are on record."}
	for _, s := range all {
		t.Add(s.Group, s.Name, s.Value)
	}
	return t
}

// Environment is the system and the machine of the run.
func Environment(r *result.Run) document.Table {
	t := document.Table{ID: "environment", Title: "Environment", Head: document.Heads("value"),
		Words: true,
		Empty: "No environment is on record."}
	add := func(name, value string) {
		if value = document.Clean(value); value != "" {
			t.Add(name, value)
		}
	}
	add("client library", r.System.Client)
	add("servers", strings.Join(phrase.Repeated(r.System.Servers), ", "))
	add("endpoints", strings.Join(r.System.Endpoints, ", "))
	add("client's spread of messages without a key", r.System.ClientSpread)
	if d := r.System.Redelivery; d != nil {
		add("redelivery", d.Why)
	}
	add("order", r.System.Unordered)
	add("bill", fact.Bill(r.Bill))
	e := r.Environment
	if r.System.Name != "" && !fact.Imported(r) {
		add("load and servers on one machine", phrase.YesNo(r.System.SharesHost))
	}
	for _, h := range r.System.Hosts {
		add("host "+h.Name, fact.Processors(h.Address+" on "+h.Machine, h.Cores))
	}
	add("machine", e.Hostname)
	add("operating system", e.OS+" "+e.Kernel)
	add("CPU", e.CPU)
	if e.Cores > 0 {
		add("cores", fmt.Sprintf("%d (GOMAXPROCS %d)", e.Cores, e.GoMaxProcs))
	}
	if a := e.Apart; a != nil {
		add("CPUs of servers and load", a.String())
	}
	if e.MemoryBytes > 0 {
		add("memory", quantity.Bytes(e.MemoryBytes))
	}
	add("virtualization", e.Virtual)
	add("proved", fact.Proof(e.Proof))
	add("clock", e.Clock)
	add("file system of the data", e.DataFS)
	add("plimsoll", r.Plimsoll.Version+" "+r.Plimsoll.Commit+" "+r.Plimsoll.Go)
	return t
}
