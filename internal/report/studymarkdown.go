package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/study"
)

// StudyMarkdown writes studies as one document.
func StudyMarkdown(w io.Writer, all []StudyResult) error {
	var b strings.Builder
	b.WriteString(
		"# The published studies, run again\n\nWritten by `make studies`, from saved runs of " +
			"`plimsoll study run`; change nothing here.\n\n")
	b.WriteString(studyNote + "\n\n")
	for _, r := range all {
		fmt.Fprintf(&b, "- [%s](#%s): %s; %s\n", md(r.Study.Name), r.Study.Name, md(r.Study.Title),
			claimsSentence(r.Outcome.Claims))
	}
	for _, r := range all {
		studySection(&b, r)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func studySection(b *strings.Builder, r StudyResult) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n%s\n\nTheirs: %s.\n\n", md(r.Study.Name), md(r.Study.Title),
		md(r.Study.Question), md(r.Study.Source))
	for _, s := range r.Study.Testbed {
		b.WriteString("- " + md(s) + "\n")
	}
	fmt.Fprintf(b, "\nOurs: scale %s, %s; %s\n\n", r.Plan.Scale, moment(r.Plan.StartedAt),
		machineOf(r))
	for _, s := range r.Study.Missing {
		b.WriteString("- " + md(s) + "\n")
	}
	if len(r.Outcome.Claims) > 0 {
		b.WriteString(
			"\n### Where our figures agree\n\n| claim | theirs | ours | answer " +
				"|\n|---|---|---|---|\n")
		for _, j := range r.Outcome.Claims {
			ours := study.Times(j.Ours)
			if j.Low > 0 {
				ours += fmt.Sprintf(" (%s to %s)", study.Times(j.Low), study.Times(j.High))
			}
			fmt.Fprintf(b, "| %s (%s) | %s | %s | %s |\n", md(j.Says), j.Bound,
				study.Times(j.Theirs), ours, md(answerText(j)))
		}
		b.WriteString("\n" + claimsSentence(r.Outcome.Claims) + "\n")
	}
	for _, t := range r.Outcome.Tables {
		studyTableMarkdown(b, t)
	}
	qualitiesMarkdown(b, r.Outcome)
	for i, s := range r.Outcome.Scaled {
		if i == 0 {
			b.WriteString("\n### Not the published size\n\n")
		}
		b.WriteString("- " + md(s) + "\n")
	}
}

// answerText is an answer, with its reason where the figures do not show it.
func answerText(j study.Judgement) string {
	if j.Answer == study.Agrees || j.Answer == study.Differs {
		return string(j.Answer)
	}
	reason := j.Sentence
	if _, after, found := strings.Cut(reason, "; "); found {
		reason = after
	}
	return string(j.Answer) + ": " + reason
}

func studyTableMarkdown(b *strings.Builder, t study.TableOutcome) {
	fmt.Fprintf(b, "\n### %s: %s, %s\n\nTheirs: %s.\n\n", md(t.Table), md(t.Title), md(t.Figure),
		md(t.From))
	heads := append(slices.Clone(t.Axes), studyColumns...)
	b.WriteString("|")
	for _, h := range heads {
		b.WriteString(" " + md(h) + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(heads)) + "\n")
	for _, r := range t.Rows {
		labels, figures := studyRow(t, r)
		if r.Remark != "" {
			figures[2] += " \\*"
		}
		b.WriteString("|")
		for i, text := range append(labels, figures...) {
			if i < len(labels) {
				text = md(text)
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteString("\n")
	}
	for i, s := range sharedRemarks(t) {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("- \\* " + md(s) + "\n")
	}
}

func qualitiesMarkdown(b *strings.Builder, o study.Outcome) {
	if len(o.Qualities) == 0 {
		return
	}
	b.WriteString(
		"\n### Capabilities of the systems\n\nAs tried by `plimsoll probe`; " +
			"[PROBES.md](PROBES.md) has the evidence.\n\n| quality | tried |")
	for _, c := range o.Columns {
		b.WriteString(" " + md(c) + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(o.Columns)) + "\n")
	for _, q := range o.Qualities {
		tried, answers := q.Probe, q.Answers
		if tried == "" {
			tried, answers = "nothing tries it", make([]string, len(o.Columns))
		}
		fmt.Fprintf(b, "| %s | %s |", md(q.Name), md(tried))
		for _, a := range answers {
			b.WriteString(" " + md(a) + " |")
		}
		b.WriteString("\n")
	}
}

// machineOf is the machine that the first measured cell was on.
func machineOf(r StudyResult) string {
	for _, m := range r.Measured {
		if m.Run != nil {
			e := m.Run.Run.Environment
			return fmt.Sprintf("%s, %d cores, %s of memory, %s", md(clean(e.CPU)), e.Cores,
				quantity.Bytes(e.MemoryBytes), studySentence(r.Plan))
		}
	}
	return studySentence(r.Plan)
}
