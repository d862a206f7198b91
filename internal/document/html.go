package document

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	//go:embed assets/page.html.tmpl
	pageTemplate string
	//go:embed assets/style.css
	styleCSS string
	//go:embed assets/dark.css
	darkCSS string
	//go:embed assets/theme.js
	themeJS string
)

var pageHTML = template.Must(template.New("page").Funcs(template.FuncMap{
	"words": typeset, "cell": breakable, "lines": cleanLines, "several": several,
	"beside": besideClass,
	"style":  func() template.CSS { return template.CSS(pageStyle) },
	"script": func() template.JS { return template.JS(pageScript) },
	"drawn":  func(c *Chart) template.HTML { return template.HTML(c.SVG()) },
	"policy": policy, "repeated": repeated, "nameless": nameless,
}).Parse(pageTemplate))

// Paper is light.
var (
	pageStyle  = ChartCSS() + styleCSS + inDark(darkCSS)
	pageScript = themeJS + chartScript
)

// HTML writes a document as one page. It works offline: script, style and drawings are in it,
// and a policy in its head forbids the browser to load or run anything else.
func HTML(w io.Writer, d Document) error {
	d.Blocks = shown(d.Blocks, page)
	var out bytes.Buffer
	if err := pageHTML.Execute(&out, d); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// Style is the style sheet of the pages, for a server that adds to them.
func Style() string { return pageStyle }

// Script is the script of the pages.
func Script() string { return pageScript }

// policy is the Content-Security-Policy of the page: only its own style and script.
func policy() string {
	return fmt.Sprintf(
		"default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
		Hash(pageStyle), Hash(pageScript))
}

// Hash is the name of an inline element in a Content-Security-Policy.
func Hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var microseconds = regexp.MustCompile(`([0-9])us\b`)

// typeset is text for a page, which has the sign µ.
func typeset(s string) string { return microseconds.ReplaceAllString(Clean(s), "${1}µs") }

// longWord is the length up to which a word is never broken: an address with its port is shorter.
const longWord = 24

// breakable is text of a cell. A long word may be broken after a sign, such as the comma of a list
// or the slash of a path.
func breakable(s string) template.HTML {
	var out strings.Builder
	for i, word := range strings.Split(typeset(s), " ") {
		if i > 0 {
			out.WriteByte(' ')
		}
		letters, from := []rune(word), 0
		for k := 1; len(letters) > longWord && k < len(letters); k++ {
			sign, next := letters[k-1], letters[k]
			if strings.ContainsRune(",;/=_&?", sign) && next != sign ||
				sign == '.' && unicode.IsLetter(next) {
				out.WriteString(template.HTMLEscapeString(string(letters[from:k])) + "<wbr>")
				from = k
			}
		}
		out.WriteString(template.HTMLEscapeString(string(letters[from:])))
	}
	return template.HTML(out.String())
}

// Line is the cell with one of its lines only.
func (c Cell) Line(words string) Cell {
	c.Words = words
	return c
}

// several are the lines of a cell that has more than one.
func several(s string) []string {
	if !strings.Contains(s, "\n") {
		return nil
	}
	return strings.Split(s, "\n")
}

// repeated reports whether a fact has the name of the fact before.
func repeated(all []Fact, i int) bool { return i > 0 && all[i].Name == all[i-1].Name }

// nameless reports whether facts have no names, as a list.
func nameless(all []Fact) bool {
	return !slices.ContainsFunc(all, func(f Fact) bool { return f.Name != "" })
}

// besideClass is the class of blocks side by side.
func besideClass(blocks []Block) string {
	switch c := blocks[0].Chart; {
	case blocks[0].Text != nil:
		return "read"
	case c == nil:
		return "pair"
	case c.Small:
		return "charts smalls"
	default:
		return "charts halves"
	}
}

// The charts have this number of colours, and of patterns: further lines are dashed.
const (
	Colors = 6
	Dashes = 4
)

// Class is the style of a table on the page.
func (t Table) Class() string {
	out := "t-" + Clean(t.ID)
	if t.Words {
		out += " words"
	}
	if len(t.Head) == 1 {
		out += " narrow"
	}
	switch n := len(t.Head); {
	case t.Runs && n <= 4:
		out += " few" // equally wide columns, so that bars in them can be compared
	case t.Runs:
		out += " many" // more than fit a page, which then scrolls
	}
	return out
}

// Starts is the section that begins at a row, or nothing.
func (t Table) Starts(i int) string {
	if i > 0 && t.Rows[i-1].Section == t.Rows[i].Section {
		return ""
	}
	return t.Rows[i].Section
}

// Wide is the number of columns, with that of the names.
func (t Table) Wide() int { return len(t.Head) + 1 }

// Swatch is the colour of a column's run in the charts, and the pattern of its line.
func (Table) Swatch(i int) string {
	out := fmt.Sprintf("c%d", i%Colors)
	if dash := i / Colors % Dashes; dash > 0 {
		out += fmt.Sprintf(" d%d", dash)
	}
	return out
}

// Left reports whether a column holds words.
func (t Table) Left(i int) bool { return !t.Words && i < len(t.Head) && t.Head[i].Words }
