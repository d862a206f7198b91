package main

import (
	"bytes"
	"context"
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
	"path/filepath"
	"slices"
	"strings"
)

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir, Name, Export      string
	GoFiles, TestImports, XTestImports []string
	Module                             *struct{ Path string }
}

// build finds the mutants of a package, and builds its tests once, with all mutants in it. The
// source tree is not written: the compiler reads the mutants from a folder of their own.
func build(ctx context.Context, path, folder string) (*binary, error) {
	all, err := list(ctx, path)
	if err != nil {
		return nil, err
	}
	p := all[len(all)-1] // the go command lists dependencies first
	b := &binary{
		name: strings.TrimPrefix(p.ImportPath, p.Module.Path+"/"), folder: folder, dir: p.Dir,
		// Else its tests draw other inputs each time, and write those that fail into the tree.
		rapid: slices.Contains(append(p.TestImports, p.XTestImports...), "pgregory.net/rapid"),
	}
	files, err := find(b, p, all)
	if err != nil {
		return nil, err
	}
	replace := make(map[string]string)
	write := func(name string, source []byte) error {
		to := filepath.Join(folder, name)
		replace[filepath.Join(p.Dir, name)] = to
		return os.WriteFile(to, source, 0o600)
	}
	for _, f := range files {
		err = errors.Join(err, write(filepath.Base(f.path), f.render()))
	}
	err = errors.Join(err, write("mutants_on.go", fmt.Appendf(nil, question, p.Name,
		len(b.keys)+1)))
	overlay, _ := json.Marshal(map[string]any{"Replace": replace}) // of strings
	at := filepath.Join(folder, "overlay.json")
	if err := errors.Join(err, os.WriteFile(at, overlay, 0o600)); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", at, "-o",
		b.path(), path).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("build the tests of %s with its mutants: %w\n%s", path, err, out)
	}
	return b, nil
}

// question is the source of what a mutant asks: whether it is on. In a run that looks for the
// mutants that a test reaches, each notes its number once.
const question = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutant, _       = strconv.Atoi(os.Getenv("MUTANT"))
	mutantsLog      = openMutantsLog()
	mutantsReached  [%d]atomic.Bool
)

func openMutantsLog() *os.File {
	log, _ := os.OpenFile(os.Getenv("MUTANTS_REACHED"), os.O_APPEND|os.O_WRONLY, 0)
	return log
}

func mutantOn(id int) bool {
	if mutantsLog != nil && !mutantsReached[id].Load() && !mutantsReached[id].Swap(true) {
		fmt.Fprintln(mutantsLog, id)
	}
	return id == mutant
}
`

// list asks the go command about a package and its dependencies.
func list(ctx context.Context, path string) (all []listed, err error) {
	var failed bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Name,"+
		"Export,GoFiles,TestImports,XTestImports,Module", path)
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w\n%s", path, err, failed.Bytes())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("list %s: %w", path, err)
		}
		all = append(all, p)
	}
}

// find returns a package's files with their mutants.
func find(b *binary, p listed, all []listed) (files []*file, err error) {
	exports := make(map[string]string, len(all))
	for _, one := range all {
		exports[one.ImportPath] = one.Export
	}
	f := &finder{
		fset: token.NewFileSet(), seen: make(map[string]int),
		info: &types.Info{Types: make(map[ast.Expr]types.TypeAndValue),
			Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)},
	}
	var syntax []*ast.File
	for _, name := range p.GoFiles {
		one := &file{path: filepath.Join(p.Dir, name)}
		if one.source, err = os.ReadFile(one.path); err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(f.fset, one.path, one.source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files, syntax = append(files, one), append(syntax, parsed)
	}
	checks := types.Config{Importer: importer.ForCompiler(f.fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	if _, err := checks.Check(p.ImportPath, f.fset, syntax, f.info); err != nil {
		return nil, err
	}
	for i := range files {
		f.find(syntax[i], files[i])
	}
	b.keys = f.keys
	for i := range b.keys {
		b.keys[i] = b.name + " " + b.keys[i]
	}
	return files, nil
}
