package prove

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Report is the result of a proof.
type Report struct {
	Proof  result.Proof `json:"proof"`
	Truths []Tried      `json:"truths"`
}

// NewReport summarizes the tried truths.
func NewReport(tried []Tried, build result.Build) Report {
	p := result.Proof{At: time.Now().UTC(), Plimsoll: build, Cores: runtime.NumCPU()}
	worst := 0.0
	for _, t := range tried {
		switch t.Verdict {
		case Holds:
			p.Held++
		case Unknown:
			p.Unknown++
		default:
			p.Missed++
			p.MissedTruths = append(p.MissedTruths, t.Name)
		}
		for _, r := range t.Rows {
			// A limited run claims nothing, so its errors do not count.
			if used := r.used(); r.Verdict != Unknown && used > worst {
				worst = used
				p.Worst = &result.ProofError{
					Truth: t.Name, Figure: r.Figure, Unit: r.Unit,
					Planted: r.PlantedValue, Error: r.Error, Allowed: r.Allowed(),
				}
			}
		}
	}
	return Report{Proof: p, Truths: tried}
}

// Document shows all figures, or each truth's deciding figure.
func (p Report) Document(every bool) document.Document {
	table := document.Table{ID: "truths", Corner: "truth", Words: true,
		Head: document.Heads("figure", "planted", "printed", "error", "allowed", "verdict")}
	var notes []document.Fact
	for _, t := range p.Truths {
		rows := t.Rows
		if !every {
			rows = []Row{t.deciding()}
		}
		name := t.Name
		for _, r := range rows {
			table.Add(name, r.Figure, r.Planted, r.Printed, r.errorText(), r.allowedText(),
				string(r.Verdict))
			name = ""
		}
		if note := t.note(); note != "" {
			notes = append(notes, document.Fact{Name: t.Name, Value: note, Tone: document.Unsure})
		}
	}
	return document.Document{Title: "plimsoll's figures against planted truths",
		Blocks: []document.Block{{Table: &table}, {Facts: notes},
			{Text: &document.Text{Words: p.summary()}}}}
}

// deciding returns the row that stands for the truth: among the rows with the truth's
// verdict, the row that used the largest share of its allowed error. With equal shares it
// prefers a planted value other than 0.
func (t Tried) deciding() Row {
	var most Row
	for _, r := range t.Rows {
		if r.Verdict == t.Verdict && (most.Figure == "" || r.used() > most.used() ||
			r.used() == most.used() && r.PlantedValue > 0 && most.PlantedValue == 0) {
			most = r
		}
	}
	return most
}

// note returns a sentence about a truth that does not hold, with the planted behaviour and
// the reason. It is empty for a truth that holds.
func (t Tried) note() string {
	if t.Verdict == Holds {
		return ""
	}
	note := fmt.Sprintf("%s: %s", t.Verdict, t.Planted)
	if why := t.deciding().Why; why != "" {
		note += "; " + why
	}
	return note
}

func (p Report) summary() string {
	counts := []string{fmt.Sprintf("%d of %d truths hold", p.Proof.Held, len(p.Truths))}
	if p.Proof.Unknown > 0 {
		counts = append(counts, fmt.Sprintf("%d unknown", p.Proof.Unknown))
	}
	counts = append(counts, fmt.Sprintf("%d missed", p.Proof.Missed))
	return strings.Join(counts, ", ")
}

// Sound reports whether no figure was wrong by more than allowed in a run that claimed to
// be valid.
func (p Report) Sound() bool { return p.Proof.Missed == 0 }
