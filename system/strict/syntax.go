package strict

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxDepth bounds nesting: the parser recurses, and a stack overflow cannot be recovered from.
const maxDepth = 32

// maxTokens bounds the tokens of an input: the parser's time grows with their square, and this
// number takes half a second at worst.
const maxTokens = 50_000

// shape is the kind of value of a node.
type shape int

const (
	single shape = iota
	mapping
	list
	nothing // a key without a value, or null
)

func (s shape) String() string {
	return [...]string{"a single value", "a mapping", "a list", "nothing"}[s]
}

// node is a value of a document, free of the YAML library's types.
type node struct {
	shape        shape
	line, column int
	text         string  // single: the value as written, without its quotes
	keys         []entry // mapping: in written order
	items        []*node // list
}

type entry struct {
	name         string
	line, column int
	value        *node
}

// fault is something wrong at a place of the text.
type fault struct {
	line, column int
	message      string
}

// clean returns src as text with plain line ends and no byte order mark, or the reason why it
// is unreadable.
func clean(src []byte) (string, *fault) {
	if len(src) > MaxBytes {
		return "", &fault{message: "is larger than 1 MiB: keep it smaller"}
	}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	src = bytes.ReplaceAll(src, []byte("\r"), []byte("\n"))
	line, column := 1, 1
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return "", &fault{line, column,
				fmt.Sprintf("byte 0x%02x is not UTF-8 text: save the file as UTF-8", src[i])}
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t', r == 0x7f, r == '\uFEFF':
			return "", &fault{line, column, fmt.Sprintf(
				"control character U+%04X does not belong in a text file: remove it", r)}
		}
		i, column = i+size, column+1
	}
	return string(src), nil
}

// parse reads the one document of a text. When there are faults, the node is nil.
func parse(text string) (*node, []fault) {
	tokens, broken := tokenize(text)
	if broken != nil {
		return nil, []fault{*broken}
	}
	if refused := refuse(tokens); len(refused) > 0 {
		return nil, refused
	}
	file, broken := build(tokens)
	if broken != nil {
		return nil, []fault{*broken}
	}
	return convertFile(file)
}

// tokenize runs the library's scanner and recovers when it panics on invalid input.
func tokenize(text string) (tokens token.Tokens, broken *fault) {
	defer func() {
		if recover() != nil {
			tokens, broken = nil, &fault{1, 1,
				"is not YAML that can be read: check the quotes, brackets and indentation"}
		}
	}()
	return lexer.Tokenize(text), nil
}

// build runs the library's parser and recovers when it panics.
func build(tokens token.Tokens) (file *ast.File, broken *fault) {
	defer func() {
		if recover() != nil {
			file, broken = nil, &fault{1, 1,
				"is not YAML that can be read: check the quotes, brackets and indentation"}
		}
	}()
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err == nil {
		return file, nil
	}
	broken = &fault{1, 1, explainSyntax(err.Error())}
	var known yaml.Error
	if errors.As(err, &known) {
		broken.message = explainSyntax(known.GetMessage())
		if at := known.GetToken(); at != nil && at.Position != nil {
			broken.line, broken.column = at.Position.Line, at.Position.Column
		}
	}
	return nil, broken
}

// explanations translate the most common complaints of the library. The first entry whose left
// side is part of the complaint applies.
var explanations = [][2]string{
	{"found character '\t'", "a tab cannot indent YAML: use spaces"},
	{"',' or ']' must be", "a list begun with [ above is not closed: add the ]"},
	{"sequence end token ']' not found", "a list begun with [ is not closed: add the ]"},
	{"',' or '}' must be", "a mapping begun with { above is not closed: add the }"},
	{"could not find flow mapping end", "a mapping begun with { is not closed: add the }"},
	{"could not find end character of",
		"a quoted value that begins here is not closed: add the quote"},
	{"unexpected key name", "a key without its colon: write `key: value`"},
	{"non-map value is specified", "a key without its colon: write `key: value`"},
	{"value is not allowed in this context",
		"this does not belong here: check the indentation and brackets before it"},
}

func explainSyntax(complaint string) string {
	for _, e := range explanations {
		if strings.Contains(complaint, e[0]) {
			return "syntax: " + e[1]
		}
	}
	words := strings.Join(strings.Fields(complaint), " ")
	return "syntax: " + words + ": check the quotes, brackets and indentation"
}

// unsupported names the replacement for each part of YAML that this package refuses.
var unsupported = map[token.Type]string{
	token.AnchorType:     "anchors (&name) are not supported: write the value out",
	token.AliasType:      "aliases (*name) are not supported: write the value out",
	token.MergeKeyType:   "merge keys (<<) are not supported: write the keys out",
	token.TagType:        "tags (!name) are not supported: write the plain value",
	token.DirectiveType:  "directives (%NAME) are not supported: remove the line",
	token.MappingKeyType: "keys that begin with ? are not supported: write `key: value`",
}

// refuse finds the parts of YAML that this package refuses, and bounds the nesting before the
// parser recurses over it.
func refuse(tokens token.Tokens) []fault {
	if len(tokens) > maxTokens {
		return []fault{{message: "holds more than 50,000 words and marks: keep it smaller"}}
	}
	var faults []fault
	depth, dashes, dashLine, contents := 0, 0, 0, false
	var blocks indentation
	for _, t := range tokens {
		at := func(message string) {
			faults = append(faults, fault{t.Position.Line, t.Position.Column, message})
		}
		if message, found := unsupported[t.Type]; found {
			at(message)
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			if t.Position.Line != dashLine {
				dashes, dashLine = 0, t.Position.Line
			}
			dashes++
		case token.DocumentHeaderType:
			if contents {
				at("a second document begins here: keep one document in a file")
				return faults
			}
		}
		contents = contents || (t.Type != token.DocumentHeaderType && t.Type != token.CommentType &&
			t.Type != token.DirectiveType)
		if max(depth, dashes, blocks.at(t.Position)) > maxDepth {
			at(fmt.Sprintf("is nested more than %d deep: write it flatter", maxDepth))
			return faults
		}
		if len(faults) > mostViolations {
			return faults
		}
	}
	return faults
}

// indentation counts the blocks around a token by the columns at which lines begin. The
// library's own count grows with every list beside another.
type indentation struct {
	line    int
	columns []int // of the blocks around, the outermost first
}

// at takes the next token and returns the number of blocks around it.
func (i *indentation) at(p *token.Position) int {
	if p.Line == i.line {
		return len(i.columns)
	}
	i.line = p.Line
	for n := len(i.columns); n > 0 && i.columns[n-1] > p.Column; n-- {
		i.columns = i.columns[:n-1]
	}
	if n := len(i.columns); n == 0 || i.columns[n-1] < p.Column {
		i.columns = append(i.columns, p.Column)
	}
	return len(i.columns)
}

// isEmpty begins the error for a file without a value.
const isEmpty = "is empty: "

func convertFile(file *ast.File) (*node, []fault) {
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		c := converter{}
		root := c.convert(doc.Body, 0)
		if len(c.faults) > 0 {
			return nil, c.faults
		}
		return root, nil
	}
	return nil, []fault{{message: isEmpty + "write at least {}"}}
}

// converter converts the library's nodes to those of this package.
type converter struct{ faults []fault }

func (c *converter) convert(n ast.Node, depth int) *node {
	out := &node{}
	t := n.GetToken()
	if t != nil && t.Position != nil {
		out.line, out.column = t.Position.Line, t.Position.Column
	}
	if depth > maxDepth {
		c.fault(out, fmt.Sprintf("is nested more than %d deep: write it flatter", maxDepth))
		return out
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		c.mapping(out, n.Values, depth)
	case *ast.MappingValueNode:
		c.mapping(out, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out.shape = list
		for _, item := range n.Values {
			out.items = append(out.items, c.convert(item, depth+1))
		}
	case *ast.NullNode:
		out.shape = nothing
	case *ast.StringNode:
		out.text = n.Value
	case *ast.LiteralNode:
		if n.Value != nil {
			out.text = n.Value.Value
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		out.text = t.Value
	default:
		c.fault(out, "is YAML that is not supported here: write a plain value, a mapping or a list")
	}
	return out
}

func (c *converter) mapping(out *node, values []*ast.MappingValueNode, depth int) {
	out.shape = mapping
	for i, v := range values {
		key := c.convert(v.Key, depth+1)
		if i == 0 && !v.IsFlowStyle {
			out.line, out.column = key.line, key.column
		}
		if key.shape == nothing {
			key.text = "null"
		}
		value := &node{shape: nothing, line: key.line, column: key.column}
		if v.Value != nil {
			value = c.convert(v.Value, depth+1)
		}
		out.keys = append(out.keys, entry{key.text, key.line, key.column, value})
	}
}

func (c *converter) fault(at *node, message string) {
	c.faults = append(c.faults, fault{at.line, at.column, message})
}
