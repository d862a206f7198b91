package document

// Document is one report: a title and its blocks, in the order in which they are read.
type Document struct {
	Title string `json:"title"` // of the window or of the Markdown document
	// Origin says how a file that is kept was written; Markdown begins with title and origin.
	Origin string  `json:"origin,omitempty"`
	Blocks []Block `json:"blocks"`
	// Brief is what a terminal shows instead of Blocks where it is not asked for everything: the
	// answer and what it rests on, on one screen. None: it shows Blocks.
	Brief []Block `json:"brief,omitempty"`
}

// Block is a part of a document. Exactly one of the pointers and slices is set, beside For.
type Block struct {
	For Audience `json:"for,omitempty"`

	Heading  *Heading   `json:"heading,omitempty"`
	Text     *Text      `json:"text,omitempty"`
	Warnings *Warnings  `json:"warnings,omitempty"`
	Verdicts []Verdict  `json:"verdicts,omitempty"`
	Cards    []Card     `json:"cards,omitempty"`
	Facts    []Fact     `json:"facts,omitempty"`
	Table    *Table     `json:"table,omitempty"`
	Chart    *Chart     `json:"-"`
	Code     *Code      `json:"code,omitempty"`
	Details  *Details   `json:"details,omitempty"`
	Section  []Block    `json:"section,omitempty"`
	Row      []Block    `json:"row,omitempty"` // side by side where there is room
	Contents []Contents `json:"contents,omitempty"`
}

// Audience is who a block is for; the zero value is everybody.
type Audience string

// The audiences.
const (
	OnTerminal Audience = "terminal" // not on a page, and not in Markdown
	OnPage     Audience = "page"     // HTML only
	AtLength   Audience = "length"   // HTML and Markdown, and not a terminal
	InText     Audience = "text"     // a terminal and Markdown, and not a page
	InMarkdown Audience = "markdown" // Markdown only
)

// Heading begins a part. Level is 1 to 3.
type Heading struct {
	Level  int    `json:"level"`
	ID     string `json:"id,omitempty"` // the target of links to it
	Words  string `json:"words"`
	Beside string `json:"beside,omitempty"` // a few faint words on the same line
}

// Text is a paragraph.
type Text struct {
	Style TextStyle `json:"style,omitempty"`
	Begin string    `json:"begin,omitempty"` // stands out at its beginning
	Words string    `json:"words"`
}

// TextStyle is how a paragraph stands out; the zero value does not.
type TextStyle string

// The styles of a paragraph.
const (
	Answer TextStyle = "answer" // the sentence that answers the question of the document
	Lead   TextStyle = "lead"   // the sentence below a heading
	Note   TextStyle = "note"   // how to read what stands beside it
)

// Warnings come before the figures that they restrict.
type Warnings struct {
	Title     string   `json:"title"`
	Grave     bool     `json:"grave,omitempty"` // the figures must not be compared
	Sentences []string `json:"sentences"`
	// Fold is set if pages and Markdown show only the first sentences, and fold the others.
	Fold bool `json:"fold,omitempty"`
}

// open is the number of warnings that a page shows.
const open = 3

// Open are the sentences that a page shows.
func (w Warnings) Open() []string {
	if w.Fold {
		return w.Sentences[:min(open, len(w.Sentences))]
	}
	return w.Sentences
}

// Folded are the sentences that a page folds.
func (w Warnings) Folded() []string { return w.Sentences[len(w.Open()):] }

// Tone is what an outcome means for the reader; the zero value means nothing.
type Tone string

// The tones.
const (
	Good   Tone = "good"
	Bad    Tone = "bad"
	Unsure Tone = "unsure"
	Main   Tone = "main" // the main result
)

// Verdict is a judgement, with its outcome in a word.
type Verdict struct {
	Tone     Tone   `json:"tone,omitempty"`
	Outcome  string `json:"outcome"`
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
}

// Card is a headline figure.
type Card struct {
	Label   string `json:"label"`
	Number  string `json:"number"`
	Unit    string `json:"unit,omitempty"`
	Word    bool   `json:"word,omitempty"` // the number is a text, which may wrap
	Tone    Tone   `json:"tone,omitempty"`
	Details []Fact `json:"details,omitempty"`
}

// Add adds a detail.
func (c *Card) Add(name, value string) {
	c.Details = append(c.Details, Fact{Name: name, Value: value})
}

// Fact is a name with its value: a label with a sentence beside it.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Tone  Tone   `json:"tone,omitempty"`
}

// Contents is a link to a heading of the same document.
type Contents struct {
	ID    string `json:"id"`
	Words string `json:"words"`
}

// Details are blocks that a reader unfolds.
type Details struct {
	Summary string  `json:"summary"`
	Blocks  []Block `json:"blocks"`
}

// Code is text as it was written: a command, a file.
type Code struct {
	Title string `json:"title,omitempty"`
	Words string `json:"words"`
}

// Table has a first column of names.
type Table struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Note   string   `json:"note,omitempty"`
	Bars   string   `json:"bars,omitempty"`   // what bars say; shown where bars can be
	Corner string   `json:"corner,omitempty"` // the head of the column of names
	Head   []Column `json:"head"`
	Rows   []Row    `json:"rows"`
	Empty  string   `json:"empty,omitempty"` // why there are no rows
	Words  bool     `json:"words,omitempty"` // all columns hold words rather than figures
	Runs   bool     `json:"runs,omitempty"`  // each column is a run, in its colour of the charts
}

// Column is the head of a column.
type Column struct {
	For   Audience `json:"for,omitempty"`
	Name  string   `json:"name"`
	Mark  string   `json:"mark,omitempty"`  // below the name, such as the reason not to rank it
	Words bool     `json:"words,omitempty"` // words rather than figures
	// Keep is which columns a narrow terminal shows: those with the greatest, all if it can.
	Keep int `json:"keep,omitempty"`
}

// Heads are heads of columns without more than a name.
func Heads(names ...string) []Column {
	all := make([]Column, len(names))
	for i, name := range names {
		all[i].Name = name
	}
	return all
}

// Add adds a row.
func (t *Table) Add(name string, values ...string) {
	t.Rows = append(t.Rows, Row{Name: name, Values: Cells(values...)})
}

// Row is a row of a table. A section of neighbouring rows has a head of its own.
type Row struct {
	Section string `json:"section,omitempty"`
	Name    string `json:"name"`
	Link    string `json:"link,omitempty"` // of the name, relative to the page
	Values  []Cell `json:"values"`
}

// Cell is a value; lines are parted by \n.
type Cell struct {
	Words string `json:"words"`
	Tone  Tone   `json:"tone,omitempty"`
	Link  string `json:"link,omitempty"` // relative to the page
	// Bar is the length of a bar below the value, 1 to 100; 0: none.
	Bar int `json:"bar,omitempty"`
}

// Cells are cells without more than words.
func Cells(words ...string) []Cell {
	all := make([]Cell, len(words))
	for i, w := range words {
		all[i].Words = w
	}
	return all
}
