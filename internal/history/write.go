package history

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// Document shows a line of bars and a table for each series and figure.
func (h *History) Document(by By) document.Document {
	d := document.Document{Title: "How figures changed"}
	for _, s := range h.Series {
		for _, f := range h.Figures {
			d.Blocks = append(d.Blocks, s.blocks(f, by)...)
		}
	}
	if len(h.Series) > 0 {
		d.Blocks = append(d.Blocks, document.Block{Text: &document.Text{Style: document.Note,
			Words: Caution}})
	}
	return d
}

func (s *Series) blocks(f figure.Figure, by By) []document.Block {
	values, changes := s.column(f.Name), s.changes(f.Name)
	table := s.grouped(values, f, by)
	if by == ByTime {
		table = s.byTime(values, f, changes)
	}
	var changed []document.Fact
	for _, c := range changes {
		changed = append(changed, document.Fact{Name: "changed", Value: c.sentence(f, s)})
	}
	return []document.Block{
		{Heading: &document.Heading{Level: 2, Words: fmt.Sprintf("%s: %s, %s", s.Name, f.Name,
			quantity.Plural(len(values), "experiment", "experiments"))}},
		{Code: &document.Code{Words: fmt.Sprintf("%s  %s to %s", bars(values),
			f.Unit.Print(slices.Min(values)), f.Unit.Print(slices.Max(values)))}},
		{Table: &table}, {Facts: changed},
		{Text: &document.Text{Words: s.judged(len(changes))}}}
}

// byTime has a row for each experiment. An asterisk marks the first after a change.
func (s *Series) byTime(values []float64, f figure.Figure, changes []Change) document.Table {
	t := document.Table{ID: "experiments", Corner: "started", Words: true,
		Head: document.Heads(f.Name, "plimsoll", "servers", "experiment")}
	for i, p := range s.Points {
		at := moment(p.At)
		if slices.ContainsFunc(changes, func(c Change) bool { return c.At == i }) {
			at += " *"
		}
		t.Add(at, f.Unit.Print(values[i]), p.Plimsoll, p.Servers, p.ID)
	}
	return t
}

// grouped has a row for each version.
func (s *Series) grouped(values []float64, f figure.Figure, by By) document.Table {
	t := document.Table{ID: "versions", Corner: string(by), Words: true,
		Head: document.Heads("experiments", "median", "least", "greatest")}
	for _, g := range s.groups(values, by) {
		t.Add(g.label, quantity.Count(int64(len(g.values))), f.Unit.Print(stats.Median(g.values)),
			f.Unit.Print(slices.Min(g.values)), f.Unit.Print(slices.Max(g.values)))
	}
	return t
}

// By is the kind of a table's rows.
type By string

// The rows: experiments in order of time, or the versions of plimsoll or of the servers.
const (
	ByTime     By = "time"
	ByPlimsoll By = "plimsoll"
	ByServers  By = "servers"
)

// group is the values of one version.
type group struct {
	label  string
	values []float64
}

// groups returns the values by version, in order of the first experiment of each.
func (s *Series) groups(values []float64, by By) []group {
	var out []group
	for i, p := range s.Points {
		label := p.Plimsoll
		if by == ByServers {
			label = p.Servers
		}
		at := slices.IndexFunc(out, func(g group) bool { return g.label == label })
		if at < 0 {
			at, out = len(out), append(out, group{label: label})
		}
		out[at].values = append(out[at].values, values[i])
	}
	return out
}

// mostBars is the number of values in a line of bars, the newest ones, for a terminal of 80
// columns.
const mostBars = 50

// bars draws values as a line of blocks, from 0 to the greatest, the newest at the end.
func bars(values []float64) string {
	values = values[max(len(values)-mostBars, 0):]
	return document.Sparkline(values, slices.Max(values))
}

// CSV writes one series in the form that Apache Otava's importer of CSV reads: a row for each
// experiment in order of time, its start, the figures in their units, and attributes.
func (h *History) CSV(w io.Writer) error {
	if len(h.Series) != 1 {
		var names []string
		for _, s := range h.Series {
			names = append(names, fmt.Sprintf("%q", s.Name))
		}
		return fmt.Errorf("CSV holds one series, and here are %d: choose one with --series, of %s",
			len(h.Series), strings.Join(names, ", "))
	}
	s := h.Series[0]
	head := []string{"time"}
	for _, f := range h.Figures {
		head = append(head, f.Name)
	}
	rows := [][]string{append(head, "experiment", "target", "system", "servers", "workload",
		"level", "plimsoll")}
	for _, p := range s.Points {
		row := []string{p.At.UTC().Format(time.RFC3339)}
		for _, f := range h.Figures {
			row = append(row, strconv.FormatFloat(p.Values[f.Name], 'f', -1, 64))
		}
		row = append(row, p.ID, s.Target, s.System, p.Servers, s.Workload, strconv.Itoa(s.Level),
			p.Plimsoll)
		for i, cell := range row[1+len(p.Values):] {
			row[1+len(p.Values)+i] = document.Clean(cell)
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// JSON writes a history for programs.
func (h *History) JSON(w io.Writer) error {
	type series struct {
		*Series
		Changes []Change `json:"changes"`
	}
	out := struct {
		Units   map[string]string `json:"units"`
		Series  []series          `json:"series"`
		LeftOut []string          `json:"left_out"`
		Caution string            `json:"caution"`
	}{map[string]string{}, []series{}, append([]string{}, h.LeftOut...),
		Caution}
	for _, f := range h.Figures {
		out.Units[f.Name] = string(f.Unit)
	}
	for _, s := range h.Series {
		t := series{Series: s, Changes: []Change{}}
		for _, f := range h.Figures {
			t.Changes = append(t.Changes, s.changes(f.Name)...)
		}
		out.Series = append(out.Series, t)
	}
	return document.JSON(w, out)
}
