package history

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// Text writes a history for a terminal: a line of bars and a table for each series and
// figure.
func (h *History) Text(w io.Writer, by By, width int) error {
	var b strings.Builder
	for _, s := range h.Series {
		for i, f := range h.Figures {
			h.text(&b, s, i, f, by, width)
		}
	}
	if len(h.Series) > 0 {
		b.WriteString(Caution + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (h *History) text(b *strings.Builder, s *Series, figure int, f Figure, by By, width int) {
	values := s.column(figure)
	fmt.Fprintf(b, "%s: %s, %s\n\n  %s  %s to %s\n\n", printable(s.Name), f.Name,
		count(len(values), "experiment", "experiments"), bars(values, width-30),
		f.text(slices.Min(values)), f.text(slices.Max(values)))
	changes := h.changes(s, figure)
	if by == ByTime {
		s.byTime(b, values, f, changes)
	} else {
		s.grouped(b, values, f, by)
	}
	for _, c := range changes {
		fmt.Fprintf(b, "\n  changed: %s\n", printable(c.sentence(f, s)))
	}
	if sentence := s.judged(len(changes)); sentence != "" {
		fmt.Fprintf(b, "\n  %s\n", sentence)
	}
	b.WriteString("\n")
}

// byTime writes a row for each experiment. An asterisk marks the first after a change.
func (s *Series) byTime(b *strings.Builder, values []float64, f Figure, changes []Change) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  started\t%s\tplimsoll\tservers\texperiment\n", f.Name)
	for i, p := range s.Points {
		mark := " "
		if slices.ContainsFunc(changes, func(c Change) bool { return c.At == i }) {
			mark = "*"
		}
		fmt.Fprintf(t, "%s %s\t%s\t%s\t%s\t%s\n", mark, moment(p.At), f.text(values[i]),
			printable(p.Plimsoll), printable(p.Servers), printable(p.ID))
	}
	_ = t.Flush()
}

// grouped writes a row for each version.
func (s *Series) grouped(b *strings.Builder, values []float64, f Figure, by By) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  %s\texperiments\tmedian\tleast\tgreatest\n", by)
	for _, g := range s.groups(values, by) {
		fmt.Fprintf(t, "  %s\t%d\t%s\t%s\t%s\n", printable(g.label), len(g.values),
			f.text(median(g.values)), f.text(slices.Min(g.values)), f.text(slices.Max(g.values)))
	}
	_ = t.Flush()
}

// By is what the rows of a table are.
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

// bars draws values as a line of blocks, from 0 to the greatest, the newest at the end.
func bars(values []float64, width int) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	if width = max(width, 20); len(values) > width {
		values = values[len(values)-width:]
	}
	greatest := slices.Max(values)
	out := make([]rune, len(values))
	for i, v := range values {
		share := 0.0
		if greatest > 0 {
			share = v / greatest
		}
		out[i] = blocks[int(math.Round(share*float64(len(blocks)-1)))]
	}
	return string(out)
}

// printable keeps control characters of saved files off the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
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
		for _, v := range p.Values {
			row = append(row, strconv.FormatFloat(v, 'f', -1, 64))
		}
		row = append(row, p.ID, s.Target, s.System, p.Servers, s.Workload, strconv.Itoa(s.Level),
			p.Plimsoll)
		for i, cell := range row[1+len(p.Values):] {
			row[1+len(p.Values)+i] = printable(cell)
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// JSON writes a history for programs.
func (h *History) JSON(w io.Writer) error {
	type point struct {
		Time     time.Time          `json:"time"`
		ID       string             `json:"experiment"`
		Dir      string             `json:"directory"`
		Plimsoll string             `json:"plimsoll"`
		Servers  string             `json:"servers"`
		Values   map[string]float64 `json:"values"` // by figure, in its unit
	}
	type change struct {
		Figure string  `json:"figure"`
		At     string  `json:"experiment"` // the first after it
		P      float64 `json:"p"`
		Before float64 `json:"median_before"`
		After  float64 `json:"median_after"`
	}
	type series struct {
		Name     string   `json:"name"`
		Target   string   `json:"target"`
		System   string   `json:"system"`
		Workload string   `json:"workload"`
		Level    int      `json:"level"`
		Points   []point  `json:"points"`
		Changes  []change `json:"changes"`
	}
	out := struct {
		Units   map[string]string `json:"units"`
		Series  []series          `json:"series"`
		LeftOut []string          `json:"left_out"`
		Caution string            `json:"caution"`
	}{map[string]string{}, []series{}, append([]string{}, h.LeftOut...),
		strings.ReplaceAll(Caution, "\n", " ")}
	for _, f := range h.Figures {
		out.Units[f.Name] = string(f.Unit)
	}
	for _, s := range h.Series {
		t := series{Name: s.Name, Target: s.Target, System: s.System, Workload: s.Workload,
			Level: s.Level, Changes: []change{}}
		for _, p := range s.Points {
			values := map[string]float64{}
			for i, f := range h.Figures {
				values[f.Name] = p.Values[i]
			}
			t.Points = append(t.Points, point{p.At, p.ID, p.Dir, p.Plimsoll, p.Servers, values})
		}
		for i := range h.Figures {
			for _, c := range h.changes(s, i) {
				t.Changes = append(t.Changes, change{c.Figure, s.Points[c.At].ID, c.P, c.Before,
					c.After})
			}
		}
		out.Series = append(out.Series, t)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
