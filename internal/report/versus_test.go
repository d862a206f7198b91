package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/result"
)

// versus compares two sets of synthetic runs of so many seconds, each of its own
// speed, and judges gates.
func versus(t *testing.T, seconds, runs int, gates ...string) Versus {
	t.Helper()
	side := func(name string, medianU float64) compare.Side {
		s := compare.Side{Name: name}
		for i := range runs {
			sh := small
			sh.stallAt, sh.seconds, sh.medianU = 0, seconds, medianU*(1+0.01*float64((i*7)%5))
			s.Runs = append(s.Runs, sh.load(t))
			s.Runs[i].Run.ID = fmt.Sprintf("%s-%d", name, i+1)
			if name == "after" {
				at := slices.IndexFunc(s.Runs[i].Run.Settings, func(set result.Setting) bool { return set.Name == "sync_interval" })
				s.Runs[i].Run.Settings[at].Value = "1s"
			}
		}
		return s
	}
	primary, err := compare.FindPrimary(compare.Primary)
	if err != nil {
		t.Fatal(err)
	}
	v := Versus{Notes: []string{"run x is left out: it is incomplete"}, Objections: []string{"one reason\x1b[31m"}}
	if v.Comparison, err = compare.New(side("before", 600), side("after", 690), primary...); err != nil {
		t.Fatal(err)
	}
	var parsed []compare.Gate
	for _, text := range gates {
		g, err := compare.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, g)
	}
	if v.Rulings, err = v.Rule(parsed); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVersusGolden(t *testing.T) {
	gates := []string{"publish.p99 > 1.05x", "rate < 0.95x", "lost > 0"}
	for name, v := range map[string]Versus{
		"versus": versus(t, 8, 5, gates...), "versus-single": versus(t, 30, 1, gates...), "versus-few": versus(t, 8, 3),
	} {
		var table, markdown, raw bytes.Buffer
		if err := VersusTerminal(&table, v, 100, false); err != nil {
			t.Fatal(err)
		}
		if err := VersusMarkdown(&markdown, v); err != nil {
			t.Fatal(err)
		}
		if err := VersusJSON(&raw, v); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".table", table.Bytes())
		if name == "versus" {
			var narrow bytes.Buffer
			if err := VersusTerminal(&narrow, v, 80, false); err != nil {
				t.Fatal(err)
			}
			golden(t, name+"-narrow.table", narrow.Bytes())
		}
		golden(t, name+".md", markdown.Bytes())
		golden(t, name+".json", raw.Bytes())
		if !json.Valid(raw.Bytes()) {
			t.Errorf("%s: not JSON", name)
		}
		for _, out := range []string{table.String(), markdown.String(), raw.String()} {
			if strings.ContainsAny(out, "\x1b") || strings.Contains(out, "NaN") || strings.Contains(out, "Inf") {
				t.Errorf("%s shows what is no text or no number:\n%s", name, out)
			}
		}
		for _, line := range strings.Split(table.String(), "\n") {
			if columns(line) > 100 {
				t.Errorf("%s: a line of %d columns: %s", name, columns(line), line)
			}
		}
	}
}
