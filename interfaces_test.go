package plimsoll_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
)

// optional matches the comment of an interface that only some systems implement.
var optional = regexp.MustCompile(
	`^(\w+) is (an? (?:System|Cluster|Producer|Consumer|Provisioner|Provisioned) ` +
		`(?:for|of|on|that|which|whose|with) [^.]*)\.`)

// optionalInterface is an interface of which a driver decides whether it implements it.
type optionalInterface struct {
	name, means string
	methods     *types.Interface
}

// The table of ARCHITECTURE.md shows which system implements which optional interface.
// It is made from the types of the drivers, so that it cannot be wrong.
func TestOptionalInterfacesAreInTheTable(t *testing.T) {
	world := loadTypes(t, "./system", "./internal/omb", "./systems/...")
	var rows []optionalInterface
	for _, dir := range []string{"system", "internal/omb"} {
		rows = append(rows, world.optional(t, dir)...)
	}
	if len(rows) < 10 {
		t.Fatalf("only %d optional interfaces: are their comments of another form?", len(rows))
	}
	systems := systemNames(t)
	var b strings.Builder
	fmt.Fprintf(&b, "| Interface | what it is | %s |\n|---|---|%s\n",
		strings.Join(systems, " | "), strings.Repeat(":-:|", len(systems)))
	for _, row := range rows {
		fmt.Fprintf(&b, "| `%s` | %s |", row.name, row.means)
		implemented := false
		for _, name := range systems {
			mark := " "
			if world.implements(t, path.Join("systems", name), row.methods) {
				mark, implemented = "x", true
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		b.WriteString("\n")
		if !implemented {
			t.Errorf("no system implements %s: remove it", row.name)
		}
	}
	for _, told := range world.told(t) {
		fmt.Fprintf(&b, "| `Description.%s` | ", told.Names[0])
		first, _, _ := strings.Cut(strings.Join(strings.Fields(told.Doc.Text()), " "), ";")
		first, _, _ = strings.Cut(first, ". ")
		b.WriteString(strings.TrimPrefix(first, told.Names[0].Name+" ") + " |")
		for _, name := range systems {
			mark := " "
			if world.tells(path.Join("systems", name), told.Names[0].Name) {
				mark = "x"
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		b.WriteString("\n")
	}
	inDocument(t, "ARCHITECTURE.md", "optional interfaces", b.String())
}

// told are the fields of a description that are functions of settings.
func (w *typesOf) told(t *testing.T) (fields []*ast.Field) {
	t.Helper()
	for _, f := range w.files["system"] {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != "Description" {
				return true
			}
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				if _, is := field.Type.(*ast.FuncType); is {
					fields = append(fields, field)
				}
			}
			return false
		})
	}
	if len(fields) == 0 {
		t.Fatal("a description has no functions")
	}
	return fields
}

// tells reports whether the description of a driver sets a field.
func (w *typesOf) tells(dir, field string) (sets bool) {
	for _, f := range w.files[dir] {
		ast.Inspect(f, func(n ast.Node) bool {
			made, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if of, ok := made.Type.(*ast.SelectorExpr); !ok || of.Sel.Name != "Description" {
				return true
			}
			sets = sets || slices.ContainsFunc(made.Elts, func(e ast.Expr) bool {
				pair, ok := e.(*ast.KeyValueExpr)
				if !ok {
					return false
				}
				key, ok := pair.Key.(*ast.Ident)
				return ok && key.Name == field
			})
			return false
		})
	}
	return sets
}

// systemNames are the systems, by their folders.
func systemNames(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob("systems/*/doc.go")
	if err != nil || len(folders) == 0 {
		t.Fatal("no systems", err)
	}
	var names []string
	for _, file := range folders {
		names = append(names, filepath.Base(filepath.Dir(file)))
	}
	return names
}

// inDocument compares a generated part of a document, between two comments, with the expected
// text.
func inDocument(t *testing.T, file, part, want string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- generated: "+part+" -->\n", "<!-- end: "+part+" -->"
	before, rest, found := strings.Cut(string(raw), begin)
	got, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no part between %q and %q", file, begin, end)
	}
	if got == want {
		return
	}
	if !golden.Update() {
		t.Fatalf("%s shows other %s than there are: run go test . -run %s -update", file, part,
			t.Name())
	}
	if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// typesOf are packages of the project, by their folders, with their types.
type typesOf struct {
	fset     *token.FileSet
	files    map[string][]*ast.File
	packages map[string]*types.Package // from the compiler's export data: exported names only
	drivers  map[string]*types.Package // checked from source here, with unexported names
	used     map[string][]types.Type   // types of the driver kit that they use
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// list describes the packages and all that they import.
func list(t *testing.T, patterns []string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", append(
		[]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"},
		patterns...)...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal("list the packages: ", err)
	}
	return out
}

// loadTypes checks the types of packages. Their imports are read from the compiler's cache, which
// go vet fills as well.
func loadTypes(t *testing.T, patterns ...string) *typesOf {
	t.Helper()
	out := list(t, patterns)
	exports, wanted := map[string]string{}, []listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			wanted = append(wanted, p)
		}
	}
	w := &typesOf{
		fset: token.NewFileSet(), files: map[string][]*ast.File{},
		packages: map[string]*types.Package{}, drivers: map[string]*types.Package{},
		used: map[string][]types.Type{},
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	compiled := importer.ForCompiler(w.fset, "gc", open)
	config := types.Config{Importer: compiled}
	for _, p := range wanted {
		dir := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			f, err := parser.ParseFile(w.fset, path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			w.files[dir] = append(w.files[dir], f)
		}
		var err error
		if w.packages[dir], err = compiled.Import(p.ImportPath); err != nil {
			t.Fatal(err)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		if w.drivers[dir], err = config.Check(p.ImportPath, w.fset, w.files[dir],
			info); err != nil {
			t.Fatal(err)
		}
		for _, used := range info.Types {
			w.used[dir] = append(w.used[dir], fromTheKit(used.Type)...)
		}
	}
	return w
}

// optional are the optional interfaces that a package declares, in the order of the files
// and of the lines.
func (w *typesOf) optional(t *testing.T, dir string) []optionalInterface {
	t.Helper()
	var all []optionalInterface
	for _, f := range w.files[dir] {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE || g.Doc == nil {
				continue
			}
			name := g.Specs[0].(*ast.TypeSpec).Name.Name
			comment := strings.Join(strings.Fields(g.Doc.Text()), " ")
			m := optional.FindStringSubmatch(comment)
			if m == nil || m[1] != name || !ast.IsExported(name) {
				continue
			}
			declared := w.packages[dir].Scope().Lookup(name).Type()
			if methods, ok := declared.Underlying().(*types.Interface); ok {
				all = append(all, optionalInterface{path.Base(dir) + "." + name, m[2], methods})
			}
		}
	}
	return all
}

// fromTheKit matches a pointer to a type of the driver kit, as a package uses it, or nothing.
func fromTheKit(used types.Type) []types.Type {
	pointer, ok := used.(*types.Pointer)
	if !ok {
		return nil
	}
	named, ok := pointer.Elem().(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != module+"/system/driver" {
		return nil
	}
	return []types.Type{used}
}

// implements reports whether a type of a package, a pointer to it, or a type of the driver
// kit that the package uses, has the methods.
func (w *typesOf) implements(t *testing.T, dir string, methods *types.Interface) bool {
	t.Helper()
	for _, used := range w.used[dir] {
		if types.Implements(used, methods) {
			return true
		}
	}
	scope := w.drivers[dir].Scope()
	return slices.ContainsFunc(scope.Names(), func(name string) bool {
		declared, ok := scope.Lookup(name).(*types.TypeName)
		return ok && types.Implements(types.NewPointer(declared.Type()), methods)
	})
}
