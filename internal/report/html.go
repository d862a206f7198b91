package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"

	"github.com/plimsoll-bench/plimsoll/result"
)

var (
	//go:embed assets/page.html.tmpl
	pageTemplate string
	//go:embed assets/style.css
	styleCSS string
	//go:embed assets/dark.css
	darkCSS string
	//go:embed assets/uplot/uPlot.min.css
	uplotCSS string
	//go:embed assets/uplot/uPlot.iife.min.js
	uplotJS string
	//go:embed assets/uplot/LICENSE
	uplotLicense string
	//go:embed assets/format.js
	formatJS string
	//go:embed assets/charts.js
	chartsJS string
	//go:embed assets/usage.js
	usageJS string
	//go:embed assets/theme.js
	themeJS string
	//go:embed assets/main.js
	mainJS string
)

var pageHTML = template.Must(template.New("page").Parse(pageTemplate))

// pageView is the data of the page's template.
type pageView struct {
	Title   string
	Policy  string // Content-Security-Policy: only what the page contains
	Style   template.CSS
	Script  template.JS
	Data    template.JS
	Runs    []runView
	Compare *compareView
}

// HTML writes one page with charts. It works offline: scripts and styles are in
// it, and a policy in its head forbids the browser to load or run anything else.
// Time lines of more than 600 intervals are thinned so that the least and the
// greatest value of each stretch are kept; the heat map merges neighbouring
// intervals. So the size of the page is bounded for each run.
func HTML(w io.Writer, runs []*result.Saved) error {
	style := pageStyle()
	script := "/* uPlot:\n" + uplotLicense + "*/\n" + uplotJS + themeJS + formatJS + chartsJS +
		usageJS + mainJS
	data, err := json.Marshal(chartData(runs))
	if err != nil {
		return fmt.Errorf("encode the data of the page: %w", err)
	}
	doc := pageView{
		Title:  pageTitle(runs),
		Policy: policy(style, script),
		Style:  template.CSS(style),
		Script: template.JS(script),
		// json.Marshal escapes <, > and &, so the data cannot end its element.
		Data: template.JS(data),
	}
	all := names(runs)
	if len(runs) > 1 {
		doc.Compare = newCompareView(runs)
	}
	for i, s := range runs {
		doc.Runs = append(doc.Runs, newRunView(i, all[i], s))
	}
	return writePage(w, pageHTML, doc)
}

// policy is the Content-Security-Policy of a page with one style and one script of its own.
func policy(style, script string) string {
	return fmt.Sprintf(
		"default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
		hash(style), hash(script))
}

// writePage writes nothing when the template fails.
func writePage(w io.Writer, page *template.Template, doc any) error {
	var out bytes.Buffer
	if err := page.Execute(&out, doc); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// pageStyle has the dark colours twice: for systems with a dark theme, and for readers who
// chose it.
func pageStyle() string {
	return uplotCSS + "\n" + styleCSS +
		"@media (prefers-color-scheme: dark) {\n:root:not([data-theme]) {\n" + darkCSS + "}\n}\n" +
		":root[data-theme=\"dark\"] {\n" + darkCSS + "}\n"
}

// hash is the name of an inline element in a Content-Security-Policy.
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func pageTitle(runs []*result.Saved) string {
	switch len(runs) {
	case 0:
		return "no runs · plimsoll"
	case 1:
		return name(&runs[0].Run) + " · plimsoll"
	}
	return fmt.Sprintf("%d runs side by side · plimsoll", len(runs))
}

// runData is the data of one run's charts.
type runData struct {
	Name   string            `json:"name"`
	Time   timeline          `json:"time"`
	Phases []phaseData       `json:"phases"`
	Events []eventData       `json:"events"`
	Faults []phaseData       `json:"faults,omitempty"` // until they were healed
	Heat   map[string]*heat  `json:"heat"`
	Curves map[string]*curve `json:"curves"`
	Cores  int               `json:"cores"`
	Usage  *usage            `json:"usage,omitempty"`
	Start  float64           `json:"measured_from"` // seconds; comparisons align on it
	// seconds; the time before, such as the start of a cluster, has no figures
	From float64 `json:"from"`
	End  float64 `json:"end"` // seconds
}

type phaseData struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

type eventData struct {
	At       float64 `json:"at"`
	Kind     string  `json:"kind"`
	Sentence string  `json:"sentence"`
}

// maxEvents bounds the marks on a time line; more could not be told apart.
const maxEvents = 200

// chartData is the data of all charts; bounded for each run.
func chartData(runs []*result.Saved) map[string]any {
	out := make([]runData, len(runs))
	for i, name := range names(runs) {
		out[i] = newRunData(name, runs[i])
	}
	return map[string]any{"runs": out, "curve_steps": curveSteps}
}

func newRunData(name string, s *result.Saved) runData {
	d := runData{
		Name: name, Time: newTimeline(
			s), Phases: []phaseData{}, Events: []eventData{}, Cores: s.Run.Environment.Cores,
		Heat: map[string]*heat{}, Curves: map[string]*curve{}, Usage: newUsage(s),
	}
	d.From, d.End = lasted(s)
	for _, p := range s.Run.Phases {
		if p.Name == result.PhaseMeasure {
			d.Start = float64(p.StartNs) / 1e9
		}
		if p.EndNs > p.StartNs {
			d.Phases = append(d.Phases,
				phaseData{string(p.Name), float64(p.StartNs) / 1e9, float64(p.EndNs) / 1e9})
		}
	}
	if b := s.Run.Backlog; b != nil {
		if during, read := b.Stretch(result.During); read {
			d.Phases = append(d.Phases,
				phaseData{catchUpPhase, float64(during.StartNs) / 1e9, float64(during.EndNs) / 1e9})
		}
	}
	for _, f := range s.Run.Faults {
		if f.HealedNs > f.StartNs && len(d.Faults) < maxEvents {
			d.Faults = append(d.Faults,
				phaseData{faultTitle(f), float64(f.StartNs) / 1e9, float64(f.HealedNs) / 1e9})
		}
	}
	for _, e := range s.Events {
		// Phases are shaded, so they need no mark.
		if e.Kind != "phase" && len(d.Events) < maxEvents {
			d.Events = append(d.Events,
				eventData{float64(e.AtNs) / 1e9, clean(e.Kind), cut(clean(e.Sentence), 200)})
		}
	}
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		if h := newHeat(s, series); h != nil {
			d.Heat[string(series)] = h
		}
	}
	for _, series := range []result.Series{result.Publish, result.EndToEnd, result.Send} {
		if c := curveOf(s, series); c != nil {
			d.Curves[string(series)] = c
		}
	}
	return d
}

// lasted is the start and the end of the time with figures, in seconds.
func lasted(s *result.Saved) (from, to float64) {
	first, last := int64(math.MaxInt64), int64(0)
	see := func(start, end int64) { first, last = min(first, start), max(last, end) }
	for _, i := range s.Intervals {
		see(i.StartNs, i.EndNs)
	}
	for _, l := range s.Latency {
		see(l.StartNs, l.EndNs)
	}
	for _, r := range s.Resources {
		see(r.StartNs, r.EndNs)
	}
	return float64(max(min(first, last), 0)) / 1e9, float64(last) / 1e9
}
