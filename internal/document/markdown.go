package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// markdownSpecial keeps text from outside from becoming markup.
var markdownSpecial = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`,
	"[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "~", `\~`, "$", `\$`)

// md is text without markup.
func md(s string) string { return markdownSpecial.Replace(Clean(s)) }

// begun escapes text at the beginning of a block, where a sign may begin a list or a heading.
func begun(s string) string {
	if s = md(s); s != "" && strings.ContainsRune("-+=", rune(s[0])) {
		return `\` + s
	}
	return s
}

// JSON writes a document for programs that show it, or another value that has a form in JSON.
func JSON(w io.Writer, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode as JSON: %w", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// Markdown writes a document for a pull request or a wiki.
func Markdown(w io.Writer, d Document) error {
	b := &markup{}
	if d.Origin != "" {
		b.put("# %s\n\n%s\n", md(d.Title), md(d.Origin))
	}
	b.blocks(shown(d.Blocks, markdown))
	_, err := w.Write(b.Bytes())
	return err
}

// markup collects the blocks of a Markdown document, with an empty line between them.
type markup struct{ bytes.Buffer }

func (b *markup) put(format string, args ...any) { fmt.Fprintf(b, format, args...) }

func (b *markup) blocks(all []Block) {
	for _, block := range all {
		if b.Len() > 0 && block.Section == nil && block.Row == nil {
			b.put("\n")
		}
		b.block(block)
	}
}

func (b *markup) block(block Block) {
	switch {
	case block.Heading != nil:
		h := block.Heading
		b.put("%s %s\n", strings.Repeat("#", min(max(h.Level, 1), 5)+1), md(h.Words))
		if h.Beside != "" {
			b.put("\n%s\n", md(h.Beside))
		}
	case block.Text != nil:
		if begin := md(block.Text.Begin); begin != "" {
			b.put("**%s** ", begin)
		}
		if block.Text.Style == Answer {
			b.put("**%s**\n", md(block.Text.Words))
			return
		}
		b.put("%s\n", begun(block.Text.Words))
	case block.Warnings != nil:
		b.warnings(*block.Warnings)
	case block.Verdicts != nil:
		for _, v := range block.Verdicts {
			b.put("- **%s, %s:** %s\n", md(v.Name), md(v.Outcome), md(v.Sentence))
		}
	case block.Facts != nil:
		for i, f := range block.Facts {
			switch name := md(f.Name); {
			case name == "":
				b.put("- %s\n", begun(f.Value))
			case repeated(block.Facts, i):
				b.put("  - %s\n", begun(f.Value))
			default:
				b.put("- **%s:** %s\n", name, md(f.Value))
			}
		}
	case block.Table != nil:
		b.table(*block.Table)
	case block.Code != nil:
		b.code(*block.Code)
	case block.Details != nil:
		b.put("<details><summary>%s</summary>\n", md(block.Details.Summary))
		b.blocks(block.Details.Blocks)
		b.put("\n</details>\n")
	}
	b.blocks(block.Section)
	b.blocks(block.Row)
}

// warnings folds what a page folds, so that the figures stand near the beginning.
func (b *markup) warnings(w Warnings) {
	for i, sentence := range w.Open() {
		if i > 0 {
			b.put(">\n")
		}
		b.put("> **Warning:** %s\n", md(sentence))
	}
	if folded := w.Folded(); len(folded) > 0 {
		b.put("\n<details><summary>More warnings (%d)</summary>\n\n", len(folded))
		for _, sentence := range folded {
			b.put("- %s\n", begun(sentence))
		}
		b.put("\n</details>\n")
	}
}

// code writes a fence longer than any in the text.
func (b *markup) code(c Code) {
	words, fence := cleanLines(c.Words), "```"
	for strings.Contains(words, fence) {
		fence += "`"
	}
	if c.Title != "" {
		b.put("%s:\n\n", md(c.Title))
	}
	b.put("%s\n%s\n%s\n", fence, words, fence)
}

// table writes a table. Its title heads the column of names if that has no head.
func (b *markup) table(t Table) {
	corner := cmp.Or(t.Corner, t.Title)
	if t.Title != "" && t.Title != corner {
		b.put("**%s**\n\n", md(t.Title))
	}
	if len(t.Rows) == 0 {
		b.put("%s\n", begun(t.Empty))
		return
	}
	b.put("| %s |", md(corner))
	rule := "|:--|"
	for _, c := range t.Head {
		name := c.Name
		if c.Mark != "" {
			name += " (" + c.Mark + ")"
		}
		b.put(" %s |", md(name))
		if t.Words || c.Words {
			rule += ":--|"
		} else {
			rule += "--:|"
		}
	}
	b.put("\n%s\n", rule)
	for i, r := range t.Rows {
		if section := t.Starts(i); section != "" {
			b.put("| **%s** |%s\n", md(section), strings.Repeat(" |", len(t.Head)))
		}
		b.put("| %s |", md(r.Name))
		for k := range t.Head {
			b.put(" %s |", cellWords(r, k))
		}
		b.put("\n")
	}
	if t.Note != "" {
		b.put("\n%s\n", begun(t.Note))
	}
}

// cellWords are the lines of a cell, which has no line of its own in Markdown.
func cellWords(r Row, i int) string {
	if i >= len(r.Values) {
		return ""
	}
	var lines []string
	for l := range strings.SplitSeq(r.Values[i].Words, "\n") {
		lines = append(lines, md(l))
	}
	return strings.Join(lines, "<br>")
}
