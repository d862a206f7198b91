package plimsoll_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const module = "github.com/plimsoll-bench/plimsoll"

// rooms is the map of ARCHITECTURE.md: a package may import only the packages of later lines.
var rooms = readRooms()

// readRooms reads the first word of each line of the first block of code in ARCHITECTURE.md.
func readRooms() (all []string) {
	raw, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		panic(err)
	}
	blocks := strings.SplitN(string(raw), "```", 3)
	if len(blocks) < 3 {
		panic("ARCHITECTURE.md has no block of code: the map is one")
	}
	for line := range strings.Lines(strings.TrimLeft(blocks[1], "\n")) {
		all = append(all, strings.ReplaceAll(strings.Fields(line)[0], "NAME", "*"))
	}
	return all
}

const (
	maxFileLines     = 500
	maxFunctionLines = 60
	maxReadmeLines   = 200
	maxPageWords     = 1200
	maxColumns       = 100 // a tab counts four
)

func room(dir string) int {
	return slices.IndexFunc(rooms, func(pattern string) bool {
		ok, _ := path.Match(pattern, dir)
		return ok
	})
}

// goFiles parses every Go file of the project, by its path.
func goFiles(t *testing.T, each func(file string, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || file == "runs" ||
			d.Name() == "tools" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		each(filepath.ToSlash(file), fset, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportsRunDownTheMap(t *testing.T) {
	used := map[int]bool{}
	goFiles(t, func(file string, _ *token.FileSet, f *ast.File) {
		dir := path.Dir(file)
		from := room(dir)
		if from < 0 {
			if dir != "." {
				t.Errorf("%s is in no room of the map", file)
			}
			return
		}
		used[from] = true
		for _, imported := range f.Imports {
			to, ours := strings.CutPrefix(strings.Trim(imported.Path.Value, `"`), module+"/")
			if !ours || to == dir {
				continue
			}
			// Tests of a system run the conformance suite, and those of bench a
			// whole run: what they need may stand anywhere.
			if room(to) <= from && !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s imports %s, which is not below it", file, to)
			}
		}
	})
	for i, name := range rooms {
		if !used[i] {
			t.Errorf("room %s is empty", name)
		}
	}
}

// namesSystems are the places outside systems/ where the name of a system may stand: a
// package, or the text of a string, each with why.
var namesSystems = map[string]string{
	"internal/prove": "plants its truths in the simulated system and compares what plimsoll " +
		"measures with them",
	"internal/report/fixture": "makes up results of runs for tests, which bear names of systems as " +
		"results do",
	`"is missing: name one, like system: nats"`: "an example in an error message",
}

// All there is to know about a system stands in its folder. Elsewhere its name stands in
// the registry alone: not in an identifier, a string or a comment.
func TestSystemsAreNamedInTheRegistryAlone(t *testing.T) {
	var words []string
	for _, name := range systemNames(t) {
		if len(name) < 4 { // part of many words
			name = `\b` + name + `\b`
		}
		words = append(words, name)
	}
	system := regexp.MustCompile(`(?i)` + strings.Join(words, "|"))
	used := map[string]bool{}
	goFiles(t, func(file string, fset *token.FileSet, f *ast.File) {
		dir := path.Dir(file)
		if path.Dir(dir) == "systems" || file == "systems/registry.go" || strings.HasSuffix(file,
			"_test.go") {
			return
		}
		names := func(at token.Pos, text string) {
			found := system.FindString(text)
			if found == "" {
				return
			}
			for _, place := range []string{dir, text} {
				if namesSystems[place] != "" {
					used[place] = true
					return
				}
			}
			t.Errorf("%s: %s names %s: what is known of one system stands in its folder",
				fset.Position(at), strings.TrimSpace(text), found)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				names(n.Pos(), n.Name)
			case *ast.BasicLit:
				names(n.Pos(), n.Value)
			}
			return true
		})
		for _, group := range f.Comments {
			for _, line := range group.List {
				names(line.Pos(), line.Text)
			}
		}
	})
	for place := range namesSystems {
		if !used[place] {
			t.Errorf("%s names no system any more: take it off the list", place)
		}
	}
}

func TestSizesStayReadable(t *testing.T) {
	goFiles(t, func(file string, fset *token.FileSet, f *ast.File) {
		if lines := fset.File(f.Pos()).LineCount(); lines > maxFileLines {
			t.Errorf("%s has %d lines, at most %d: is there a second room in it?", file, lines,
				maxFileLines)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line +
				1; lines > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, at most %d", file, fn.Name.Name, lines,
					maxFunctionLines)
			}
		}
	})
}

// Raw strings and struct tags cannot be wrapped; tests may show long input.
func TestLinesFitTheScreen(t *testing.T) {
	goFiles(t, func(file string, fset *token.FileSet, f *ast.File) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		raw := map[int]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, "`") {
				for l := fset.Position(lit.Pos()).Line; l <= fset.Position(lit.End()).Line; l++ {
					raw[l] = true
				}
			}
			return true
		})
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			columns := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
			if columns > maxColumns && !raw[i+1] {
				t.Errorf("%s:%d has %d columns, at most %d", file, i+1, columns, maxColumns)
			}
		}
	})
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	documented, seen := map[string]bool{}, map[string]bool{}
	goFiles(t, func(file string, _ *token.FileSet, f *ast.File) {
		dir := path.Dir(file)
		if dir == "." || f.Name.Name == "main" {
			return
		}
		seen[dir] = true
		if path.Base(file) == "doc.go" && f.Doc != nil && len(f.Doc.Text()) > 80 {
			documented[dir] = true
		}
	})
	for dir := range seen {
		if !documented[dir] {
			t.Errorf("%s has no doc.go that says what it is for", dir)
		}
		if slices.Contains([]string{"util", "utils", "common", "manager", "helpers"},
			path.Base(dir)) {
			t.Errorf("%s says nothing about what is in it", dir)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	block   = regexp.MustCompile("(?s)```.*?```")
	// notInAnchors is what GitHub leaves out of the anchor of a heading.
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// longPages are the pages of docs/ that may have maxPageWords or more, each with why.
var longPages = map[string]string{
	"docs/METHODOLOGY.md": "says what every figure means, in one place to be searched",
}

func TestDocumentsAreAliveAndShort(t *testing.T) {
	var documents []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", ".github/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, found...)
	}
	texts := make(map[string]string)
	for _, name := range documents {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.ToSlash(name)] = string(raw)
	}
	for name, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			linked := name
			if m[1] != "" {
				linked = path.Join(path.Dir(name), m[1])
			}
			if _, err := os.Stat(linked); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			} else if m[2] != "" && !slices.Contains(anchors(texts[linked]), m[2]) {
				t.Errorf("%s links to #%s, which %s does not have", name, m[2], linked)
			}
		}
		if lines := strings.Count(text, "\n"); name == "README.md" && lines > maxReadmeLines {
			t.Errorf("README.md has %d lines, at most %d", lines, maxReadmeLines)
		}
		if words := len(strings.Fields(text)); path.Dir(name) == "docs" &&
			(words >= maxPageWords) != (longPages[name] != "") {
			t.Errorf("%s has %d words, and a page has fewer than %d: is it two tasks, or does it "+
				"say a thing twice? longPages lists the exceptions", name, words, maxPageWords)
		}
	}
}

// anchors returns the names by which a link reaches the headings of a document.
func anchors(text string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
		name := notInAnchors.ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// TestNothingRunsBesideWhatIsNotRaced: the packages that the Makefile tests without the race
// detector start no goroutine, so that it would find nothing in them.
func TestNothingRunsBesideWhatIsNotRaced(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^COMPUTE := (.*)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no list COMPUTE")
	}
	compute := strings.Fields(strings.ReplaceAll(string(list[1]), "./", ""))
	goFiles(t, func(file string, fset *token.FileSet, f *ast.File) {
		if strings.HasSuffix(file, "_test.go") || !slices.ContainsFunc(compute, func(p string) bool {
			below, all := strings.CutSuffix(p, "/...")
			return path.Dir(file) == below || all && strings.HasPrefix(file, below+"/")
		}) {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if started, is := n.(*ast.GoStmt); is {
				t.Errorf("%s starts a goroutine", fset.Position(started.Pos()))
			}
			return true
		})
	})
}

// beginsWithGerund matches an error that says "creating …" where all others say "create …".
var beginsWithGerund = regexp.MustCompile(`^[a-z]+ing[ :]`)

// notGerunds are the words of this form that an error may begin with: pronouns, a noun, and a
// key of a workload.
var notGerunds = regexp.MustCompile(`^(nothing|something|setting|scaling)[ :]`)

// Errors name what failed in the infinitive, so that a chain of them reads as one list: "create
// the topic: ask the leader: …".
func TestErrorsBeginInTheInfinitive(t *testing.T) {
	goFiles(t, func(_ string, fset *token.FileSet, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || len(call.Args) == 0 || !makesError(call) {
				return true
			}
			words := leftmost(call.Args[0])
			if beginsWithGerund.MatchString(words) && !notGerunds.MatchString(words) {
				t.Errorf("%s: the error begins with %q: use the infinitive, like \"create the "+
					"topic: %%w\"", fset.Position(call.Pos()), words)
			}
			return true
		})
	})
}

// makesError reports whether a call is one of fmt.Errorf or errors.New.
func makesError(call *ast.CallExpr) bool {
	function, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := function.X.(*ast.Ident)
	return is && (from.Name == "fmt" && function.Sel.Name == "Errorf" ||
		from.Name == "errors" && function.Sel.Name == "New")
}

// leftmost returns the first string of a concatenation, or "" if it begins with something else.
func leftmost(e ast.Expr) string {
	for {
		sum, is := e.(*ast.BinaryExpr)
		if !is {
			break
		}
		e = sum.X
	}
	if text, is := e.(*ast.BasicLit); is && text.Kind == token.STRING {
		words, _ := strconv.Unquote(text.Value)
		return words
	}
	return ""
}
