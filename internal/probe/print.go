package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The width of tables for people, in columns.
const (
	width     = 100
	nameWidth = 22
	cellWidth = 11
)

// short returns an answer that fits a cell.
func short(a Answer) string {
	if a == Conditional {
		return "if"
	}
	return string(a)
}

const legend = "if: conditional; the condition stands with the evidence. unknown: the trying " +
	"itself failed."

// JSON writes the columns for machines.
func JSON(w io.Writer, all []Column) error {
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

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

// Terminal writes a table with a column for each system, and the evidence
// below it, in lines of at most 100 columns.
func Terminal(w io.Writer, all []Column) error {
	var b strings.Builder
	each := (width - nameWidth) / cellWidth
	for group := range slices.Chunk(all, each) {
		matrix(&b, group)
		b.WriteByte('\n')
	}
	b.WriteString(legend + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "\n%s: %s\n", r.Name, r.Question)
		for _, c := range all {
			evidence(&b, c.Name, c.Finding(r.Name))
		}
	}
	b.WriteByte('\n')
	for _, c := range all {
		indented(&b, "", "  ", about(c))
		for _, warning := range c.Warnings {
			indented(&b, "  ", "    ", "warning: "+warning)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// matrix writes the answers without their evidence.
func matrix(b *strings.Builder, all []Column) {
	heads := make([][]string, len(all))
	lines := 0
	for i, c := range all {
		heads[i] = wrap(c.Name, cellWidth-1)
		lines = max(lines, len(heads[i]))
	}
	for line := range lines {
		cells := make([]string, len(all))
		for i, head := range heads {
			if at := line - lines + len(head); at >= 0 {
				cells[i] = head[at]
			}
		}
		cellsOf(b, "", cells)
	}
	for _, r := range rows {
		cells := make([]string, len(all))
		for i, c := range all {
			cells[i] = short(c.Finding(r.Name).Answer)
		}
		cellsOf(b, r.Name, cells)
	}
}

func cellsOf(b *strings.Builder, name string, cells []string) {
	line := fmt.Sprintf("%-*s", nameWidth, name)
	for _, cell := range cells {
		line += fmt.Sprintf("%-*s", cellWidth, cell)
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// evidence writes one finding below its row.
func evidence(b *strings.Builder, name string, f Finding) {
	indented(b, "  ", "    ", name+": "+answered(f))
	for _, sentence := range f.Evidence {
		indented(b, "    ", "      ", sentence)
	}
}

// answered returns the answer with its condition.
func answered(f Finding) string {
	if f.Answer == Conditional {
		return "conditional: " + f.Condition
	}
	return string(f.Answer)
}

// about says which question was asked, and when.
func about(c Column) string {
	return fmt.Sprintf("%s: durability level %d, %s; %s; %s", c.Name, c.Durability, servers(c),
		c.Client, c.At.Format("2006-01-02 15:04 MST"))
}

// servers returns the servers' versions. It prints a suffix that all of them share only once.
func servers(c Column) string {
	switch len(c.Servers) {
	case 0:
		return "servers that do not tell their version"
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

// indented writes a sentence in lines. The first line begins with first, the others with next.
func indented(b *strings.Builder, first, next, sentence string) {
	for i, line := range wrap(sentence, width-len(next)) {
		if i > 0 {
			first = next
		}
		b.WriteString(first + line + "\n")
	}
}

// wrap breaks a text into lines of at most most columns. It cuts a longer word.
func wrap(text string, most int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(printable(text)) {
		for {
			if line != "" && len([]rune(line))+1+len([]rune(word)) > most {
				lines, line = append(lines, line), ""
			}
			runes := []rune(word)
			if len(runes) <= most {
				break
			}
			lines, word = append(lines, string(runes[:most])), string(runes[most:])
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}

// printable removes characters that control a terminal from the words of a server.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

var special = strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "`",
	"\\`", "[", `\[`, "$", `\$`)

func md(text string) string {
	return special.Replace(strings.Join(strings.Fields(printable(text)), " "))
}

// Markdown writes the table and the evidence as a document.
func Markdown(w io.Writer, all []Column) error {
	var b strings.Builder
	b.WriteString(
		"# What the systems do, as tried\n\nWritten by `make probes`, from what `plimsoll probe` " +
			"saw; change nothing here.\n\n|  |")
	for _, c := range all {
		b.WriteString(" " + md(c.Name) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	for _, r := range rows {
		b.WriteString("| " + md(r.Name) + " |")
		for _, c := range all {
			b.WriteString(" " + short(c.Finding(r.Name).Answer) + " |")
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n" + legend + "\n\n")
	for _, c := range all {
		b.WriteString("- " + md(about(c)) + "\n")
		for _, warning := range c.Warnings {
			b.WriteString("  - warning: " + md(warning) + "\n")
		}
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", md(r.Name),
			md(strings.ToUpper(r.Question[:1])+r.Question[1:]))
		for _, c := range all {
			f := c.Finding(r.Name)
			b.WriteString("- **" + md(c.Name) + "**: " + md(answered(f)) + "\n")
			for _, sentence := range f.Evidence {
				b.WriteString("  - " + md(sentence) + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
