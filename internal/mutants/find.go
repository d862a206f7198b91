package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// site is an expression or a statement with its mutants.
type site struct {
	from, to int    // in its file
	of       string // the type of an expression; empty: a statement
	forms    []form
}

// form is what a mutant has in place of its site.
type form struct {
	id   int // from 1 within the package
	text string
}

// file is a source file and its sites.
type file struct {
	path   string
	source []byte
	sites  []*site
}

// finder finds the mutants of a package.
type finder struct {
	fset *token.FileSet
	info *types.Info
	keys []string // by id, less 1
	seen map[string]int

	syntax   *ast.File
	file     *file
	function string
}

// find adds the mutants of a file.
func (f *finder) find(syntax *ast.File, into *file) {
	f.syntax, f.file = syntax, into
	for _, d := range syntax.Decls {
		f.function = "var"
		if d, ok := d.(*ast.FuncDecl); ok {
			f.function = d.Name.Name
			if d.Recv != nil {
				receiver := strings.TrimLeft(f.text(d.Recv.List[0].Type), "*")
				f.function = receiver + "." + d.Name.Name
			}
		}
		f.walk(d, false)
	}
	slices.SortStableFunc(into.sites, func(a, b *site) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
}

// walk visits a node. returned: it is an operand of a return statement.
func (f *finder) walk(root ast.Node, returned bool) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.ArrayType:
			return false
		case *ast.CompositeLit:
			f.elements(n)
			return false
		case *ast.CallExpr:
			// A capacity changes no result, nor does the number whose sign Inf takes.
			if name := f.text(n.Fun); name == "make" || name == "math.Inf" {
				return false
			}
		case *ast.BlockStmt:
			f.statements(n.List)
		case *ast.CaseClause:
			f.statements(n.Body)
		case *ast.CommClause:
			f.statements(n.Body)
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				f.walk(e, true)
			}
			return false
		}
		if e, ok := n.(ast.Expr); ok {
			return f.expression(e, returned && n == root)
		}
		return true
	})
}

// elements visits the elements of a literal. The indices of an array must stay constants.
func (f *finder) elements(lit *ast.CompositeLit) {
	_, isMap := f.info.TypeOf(lit).Underlying().(*types.Map)
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok && !isMap {
			e = pair.Value
		}
		f.walk(e, false)
	}
}

var (
	negated = map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS,
		token.GTR: token.LEQ, token.LEQ: token.GTR, token.LAND: token.LOR, token.LOR: token.LAND,
		token.ADD: token.SUB, token.SUB: token.ADD, token.ADD_ASSIGN: token.SUB_ASSIGN,
		token.SUB_ASSIGN: token.ADD_ASSIGN, token.INC: token.DEC, token.DEC: token.INC,
	}
	shifted = map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	}
)

// expression adds the mutants of an expression, and reports whether to visit its operands.
func (f *finder) expression(e ast.Expr, returned bool) (visit bool) {
	known := f.info.Types[e]
	if known.Value != nil {
		f.constant(e, known, returned)
		return false
	}
	switch e := e.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			f.add(e, "bool", f.text(e.X))
		}
	case *ast.BinaryExpr:
		of := "bool"
		if e.Op == token.ADD || e.Op == token.SUB {
			of = f.number(known.Type)
		}
		for _, other := range []map[token.Token]token.Token{negated, shifted} {
			if op, ok := other[e.Op]; ok && of != "" {
				f.add(e, of, f.text(e.X)+" "+op.String()+" "+f.text(e.Y))
			}
		}
	}
	return true
}

// constant adds the mutants of an expression that has a constant value.
func (f *finder) constant(e ast.Expr, known types.TypeAndValue, returned bool) {
	of := f.number(known.Type)
	switch {
	case known.Value.Kind() == constant.Bool:
		f.add(e, "bool", fmt.Sprint(!constant.BoolVal(known.Value)))
	case known.Value.Kind() == constant.String:
		if returned && constant.StringVal(known.Value) != "" &&
			known.Type == types.Typ[types.String] {
			f.add(e, "string", `""`)
		}
	case of == "" || strings.HasPrefix(f.text(e), "'"):
	case constant.Sign(known.Value) == 0:
		if returned {
			f.add(e, of, of+"(1)")
		}
	case constant.Compare(known.Value, token.EQL, constant.MakeInt64(1)):
		f.add(e, of, of+"(0)")
	default:
		f.add(e, of, of+"("+f.text(e)+") / 2")
	}
}

// number returns the name of a type of plain numbers or of durations, as the file may write it;
// empty: it is another type.
func (f *finder) number(t types.Type) string {
	if t == nil || t.String() == "time.Duration" && !f.imports("time") {
		return ""
	}
	basic, ok := t.(*types.Basic)
	if ok && basic.Info()&types.IsNumeric != 0 && basic.Info()&types.IsUntyped == 0 ||
		t.String() == "time.Duration" {
		return t.String()
	}
	return ""
}

func (f *finder) imports(path string) bool {
	return slices.ContainsFunc(f.syntax.Imports, func(i *ast.ImportSpec) bool {
		return i.Path.Value == `"`+path+`"` && i.Name == nil
	})
}

// statements adds the mutants of the statements of a block.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && !f.kept(call) {
				f.add(s, "", "")
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
			if op, ok := negated[s.Tok]; ok && f.number(f.info.TypeOf(s.Lhs[0])) != "" {
				f.add(s, "", f.text(s.Lhs[0])+" "+op.String()+" "+f.text(s.Rhs[0]))
			}
			f.add(s, "", "")
		case *ast.IncDecStmt:
			f.add(s, "", f.text(s.X)+negated[s.Tok].String())
			f.add(s, "", "")
		case *ast.BranchStmt:
			if s.Tok == token.CONTINUE {
				f.add(s, "", "")
			}
		}
	}
}

// kept reports whether a call stays: without a panic a function lacks its end, and without a lock
// most tests wait for their time-out.
func (f *finder) kept(call *ast.CallExpr) bool {
	name := f.text(call.Fun)
	name = name[strings.LastIndex(name, ".")+1:]
	return slices.Contains([]string{"panic", "Lock", "Unlock", "RLock", "RUnlock"}, name)
}

// maxShown bounds the text of a mutant in its key.
const maxShown = 70

// add adds a mutant with another text in a node's place; empty: a statement is dropped.
func (f *finder) add(n ast.Node, of, text string) {
	was, now := shown(f.text(n)), shown(text)
	key := fmt.Sprintf("%s: %s => %s", f.function, was, cmp.Or(now, "dropped"))
	f.seen[key]++
	if nth := f.seen[key]; nth > 1 {
		key += fmt.Sprintf(" (%d)", nth)
	}
	f.keys = append(f.keys, key)
	from, to := f.fset.Position(n.Pos()).Offset, f.fset.Position(n.End()).Offset
	sites := f.file.sites
	at := slices.IndexFunc(sites, func(s *site) bool { return s.from == from && s.to == to })
	if at < 0 {
		at = len(sites)
		f.file.sites = append(f.file.sites, &site{from: from, to: to, of: of})
	}
	s := f.file.sites[at]
	s.forms = append(s.forms, form{len(f.keys), text})
}

func (f *finder) text(n ast.Node) string {
	return string(f.file.source[f.fset.Position(n.Pos()).Offset:f.fset.Position(n.End()).Offset])
}

// shown returns a text on one line.
func shown(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if all := []rune(text); len(all) > maxShown {
		return string(all[:maxShown]) + "…"
	}
	return text
}

// render returns the file with all its mutants in it, each behind a question that is answered when
// the code runs.
func (f *file) render() []byte {
	rest := f.sites
	return []byte(f.part(0, len(f.source), &rest))
}

// part renders a part of the file, and takes its sites.
func (f *file) part(from, to int, rest *[]*site) string {
	var out strings.Builder
	for len(*rest) > 0 && (*rest)[0].from < to {
		s := (*rest)[0]
		*rest = (*rest)[1:]
		out.Write(f.source[from:s.from])
		from = s.to
		original := f.part(s.from, s.to, rest)
		for _, form := range s.forms {
			if s.of == "" {
				fmt.Fprintf(&out, "if mutantOn(%d) { %s } else ", form.id, form.text)
				continue
			}
			fmt.Fprintf(&out, "(func() %s { if mutantOn(%d) { return %s }; return ", s.of, form.id,
				form.text)
		}
		if s.of == "" {
			fmt.Fprintf(&out, "{ %s }", original)
			continue
		}
		out.WriteString(original + strings.Repeat(" }())", len(s.forms)))
	}
	out.Write(f.source[from:to])
	return out.String()
}
