package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
)

// beside is the number of columns of systems that a terminal shows side by side.
const beside = 7

// short returns an answer that fits a cell.
func short(f Finding) string {
	if f.Answer == Conditional {
		return f.marked("if")
	}
	return f.Marked()
}

// tone marks unknown answers. Lacking a capability is not a fault.
func (a Answer) tone() document.Tone {
	if a == Unknown {
		return document.Unsure
	}
	return ""
}

const legend = "if: conditional; the condition is with the evidence. unknown: the attempt " +
	"itself failed. In parentheses: stated by the system's documentation, and not tried."

// JSON writes the columns for machines.
func JSON(w io.Writer, all []Column) error { return document.JSON(w, all) }

// Parse reads the output of JSON.
func Parse(raw []byte) ([]Column, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var all []Column
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("read what was probed: %w", err)
	}
	for _, c := range all {
		for _, f := range c.Findings {
			if !slices.Contains([]Answer{Yes, No, Conditional, Unknown}, f.Answer) {
				return nil, fmt.Errorf("read what was probed: column %s, row %s: %q is no answer",
					c.Name, f.Row, f.Answer)
			}
		}
	}
	return all, nil
}

// Document shows the answers in a table with a column for each system, and the evidence of each
// answer below it.
func Document(all []Column) document.Document {
	type block = document.Block
	answers := func(a document.Audience, some []Column) block {
		return block{For: a, Table: answerTable(some)}
	}
	d := document.Document{Title: "What the systems do, as tried and as stated",
		Origin: "Written by make probes, from what plimsoll probe saw; change nothing here.",
		Blocks: []block{answers(document.AtLength, all)}}
	for group := range slices.Chunk(all, beside) {
		d.Blocks = append(d.Blocks, answers(document.OnTerminal, group))
	}
	d.Blocks = append(d.Blocks, block{Text: &document.Text{Words: legend}})
	var tried []document.Fact
	for _, c := range all {
		tried = append(tried, document.Fact{Name: c.Name, Value: about(c)})
		for _, warning := range c.Warnings {
			tried = append(tried, document.Fact{Name: c.Name, Value: "warning: " + warning,
				Tone: document.Unsure})
		}
	}
	d.Blocks = append(d.Blocks, block{Facts: tried})
	for _, r := range rows {
		var found []document.Fact
		for _, c := range all {
			f := c.Finding(r.Name)
			found = append(found,
				document.Fact{Name: c.Name, Value: answered(f), Tone: f.Answer.tone()})
			for _, sentence := range f.Evidence {
				found = append(found, document.Fact{Name: c.Name, Value: sentence})
			}
		}
		d.Blocks = append(d.Blocks, block{Heading: &document.Heading{Level: 2, Words: r.Name,
			Beside: r.Question}}, block{Facts: found})
	}
	return d
}

// answerTable has the answers without their evidence.
func answerTable(all []Column) *document.Table {
	t := &document.Table{ID: "answers", Words: true}
	for _, c := range all {
		t.Head = append(t.Head, document.Column{Name: c.Name})
	}
	for _, r := range rows {
		row := document.Row{Name: r.Name}
		for _, c := range all {
			f := c.Finding(r.Name)
			row.Values = append(row.Values, document.Cell{Words: short(f), Tone: f.Answer.tone()})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// answered returns the answer with its condition.
func answered(f Finding) string {
	if f.Answer == Conditional {
		return "conditional: " + f.Condition
	}
	return string(f.Answer)
}

// about describes the conditions of a column, and its date.
func about(c Column) string {
	return fmt.Sprintf("durability level %d, %s; %s; %s", c.Durability, servers(c),
		c.Client, c.At.Format("2006-01-02 15:04 MST"))
}

// servers returns the servers' versions. It prints a suffix that all of them share only once.
func servers(c Column) string {
	switch len(c.Servers) {
	case 0:
		return "servers of unknown version"
	case 1:
		return c.Servers[0]
	}
	same := strings.Fields(c.Servers[0])
	for _, line := range c.Servers[1:] {
		words, n := strings.Fields(line), 0
		for n < min(len(words), len(same)) && words[len(words)-1-n] == same[len(same)-1-n] {
			n++
		}
		same = same[len(same)-n:]
	}
	if len(same) == 0 {
		return strings.Join(c.Servers, ", ")
	}
	return fmt.Sprintf("%d servers, each %s", len(c.Servers), strings.Join(same, " "))
}
