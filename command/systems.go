package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type systemsCommand struct {
	Name   string `arg:"" optional:"" help:"Describe this system: its words, its durability levels, its settings, its built-in targets."`
	Levels bool   `help:"List the durability levels that each system can give, or its built-in targets, and why not."`
	printed
}

// Run lists the systems, or describes one.
func (c *systemsCommand) Run(con console) error {
	all := systems.All()
	if c.Name != "" {
		s, err := systems.Registry().Get(c.Name)
		if err != nil {
			return inputError{err}
		}
		all = []system.System{s}
	}
	var d document.Document
	var err error
	switch {
	case c.Levels:
		d, err = levelsOf(all)
	case c.Name != "":
		d, err = described(all[0])
	default:
		d = listed(all)
	}
	if err != nil {
		return err
	}
	return c.print(con, d)
}

// listed returns a table with a row for each system: its name, where its servers come from, and a
// sentence.
func listed(all []system.System) document.Document {
	t := document.Table{ID: "systems", Corner: "system", Head: document.Heads("servers", "what")}
	for _, s := range all {
		d := s.Describe()
		t.Add(d.Name, serversOf(s), d.Summary)
	}
	return listing("The systems", t)
}

// serversOf says whether plimsoll can start a system's servers on this machine.
func serversOf(s system.System) string {
	if _, embedded := s.(system.Embedded); embedded {
		return "in plimsoll"
	}
	if _, provisions := s.(system.Provisioner); !provisions {
		return "by endpoints only"
	}
	settings, _ := system.Resolve(s.Describe().Settings, nil) // only what is given can be wrong
	var missing *system.Missing
	switch err := system.FindSoftware(s, settings); {
	case errors.As(err, &missing):
		return "needs " + cmp.Or(strings.Join(missing.Packages, ", "), missing.Software)
	case err != nil:
		return err.Error()
	}
	return "can start here"
}

// described returns all that is known about a system.
func described(s system.System) (document.Document, error) {
	d := s.Describe()
	defaults, _ := system.Resolve(d.Settings, nil) // only what is given can be wrong
	tried, err := triedOn(d.Name)
	if err != nil {
		return document.Document{}, err
	}
	var about facts
	about.add("without a key", spreadOf(s, defaults))
	about.add("targets", strings.Join(systems.TargetNames(s), ", "))
	words := document.Table{ID: "words", Corner: "word of plimsoll", Words: true,
		Head: document.Heads("here")}
	for _, term := range d.Terms {
		words.Add(term.Word, term.Means)
	}
	levels := document.Table{ID: "levels", Corner: "durability", Words: true,
		Head: document.Heads("how")}
	for level := workload.SyncSync; level <= workload.AsyncAsync; level++ {
		how := d.Levels[level].How
		if refusal := d.Levels[level].Refusal; refusal != "" {
			how = "cannot be had: " + refusal
		}
		levels.Add(fmt.Sprintf("level %d", level), how)
	}
	return document.Document{Title: d.Name, Blocks: append([]document.Block{
		{Heading: &document.Heading{Level: 1, Words: d.Name}},
		{Text: &document.Text{Style: document.Lead,
			Words: fmt.Sprintf("%s (%s)", d.Summary, d.Client)}},
		{Table: &words}, {Table: &levels}, {Table: aimsOf(d)},
		{Table: settingsOf(d.Settings)}, {Facts: about}},
		tried...)}, nil
}

// aimsOf returns a table of what a driver sets for each aim of the clients.
func aimsOf(d system.Description) *document.Table {
	t := &document.Table{ID: "clients", Corner: "clients", Words: true,
		Head: document.Heads("sets", "how")}
	for _, word := range workload.ClientWords() {
		var sets []string
		for _, s := range d.Clients[word].Sets {
			sets = append(sets, s.Name+" "+s.Value)
		}
		t.Add(string(word), strings.Join(sets, ", "), d.Clients[word].How)
	}
	return t
}

// settingsOf returns a table of a system's settings, those of its servers last.
func settingsOf(all []system.Setting) *document.Table {
	t := &document.Table{ID: "settings", Corner: "setting", Words: true,
		Head: document.Heads("default", "what it sets")}
	for _, servers := range []bool{false, true} {
		for _, s := range all {
			if s.Server != servers {
				continue
			}
			t.Add(s.Name, s.Default, s.Doc)
			if servers {
				t.Rows[len(t.Rows)-1].Section = "of the servers that plimsoll starts"
			}
		}
	}
	return t
}

// triedOn returns what the probes found on a system.
func triedOn(name string) (blocks []document.Block, err error) {
	columns, err := probe.Observed(name)
	for _, c := range columns {
		blocks = append(blocks,
			document.Block{Heading: &document.Heading{Level: 2, Words: c.Name, Beside: c.Source()}},
			document.Block{Facts: c.Brief()})
	}
	if len(columns) > 0 {
		blocks = append(blocks, document.Block{Text: &document.Text{Style: document.Note,
			Words: "docs/results/PROBES.md has the evidence."}})
	}
	return blocks, err
}

// spreadOf says how the system's own client distributes messages without a key.
func spreadOf(s system.System, settings system.Settings) string {
	rule := s.Describe().Spread
	if rule == nil {
		return "one by one to the next partition, because its own client does not choose any"
	}
	d := rule(settings)
	return d.How + "; " + d.Source
}

// levelsOf returns a table of the systems' targets by levels, and the reasons for refused levels.
func levelsOf(all []system.System) (document.Document, error) {
	t := document.Table{ID: "levels", Corner: "target", Head: document.Heads("1", "2", "3", "4")}
	var notes []string
	for _, s := range all {
		for _, name := range systems.Variants(s) {
			marks, err := marksOf(name, &notes)
			if err != nil {
				return document.Document{}, err
			}
			t.Add(name, marks...)
		}
	}
	var meanings, reasons facts
	for level := workload.SyncSync; level <= workload.AsyncAsync; level++ {
		meanings.add(fmt.Sprintf("level %d", level), level.Meaning())
	}
	for i, why := range notes {
		reasons.add(fmt.Sprintf("[%d]", i+1), why)
	}
	d := listing("The durability levels", t)
	d.Blocks = append(d.Blocks, document.Block{Facts: meanings}, document.Block{Facts: reasons})
	return d, nil
}

// marksOf asks a target's driver for each level: yes, or no with the number of the note that says
// why.
func marksOf(name string, notes *[]string) (marks []string, err error) {
	t, _, err := systems.FindTarget(name)
	if err != nil {
		return nil, err
	}
	for level := workload.SyncSync; level <= workload.AsyncAsync; level++ {
		w := workload.Default()
		w.Durability = level
		job, err := uncheckedJob(w, t, "")
		if err != nil {
			return nil, fmt.Errorf("target %s: %w", name, err)
		}
		refused := job.CheckLevel()
		if refused == nil {
			marks = append(marks, "yes")
			continue
		}
		why := cmp.Or(job.System.Describe().Levels[level].Refusal, reason(refused))
		at := slices.Index(*notes, why)
		if at < 0 {
			at, *notes = len(*notes), append(*notes, why)
		}
		marks = append(marks, fmt.Sprintf("no [%d]", at+1))
	}
	return marks, nil
}
