package strict

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// sample uses every kind of field.
type sample struct {
	Name    string        `yaml:"name"`
	Small   int           `yaml:"small"`
	Large   int64         `yaml:"large"`
	Seed    uint64        `yaml:"seed"`
	Factor  float64       `yaml:"factor"`
	On      bool          `yaml:"on"`
	Size    quantity.Size `yaml:"size"`
	Hosts   []string      `yaml:"hosts"`
	Keys    sampleKeys    `yaml:"keys" short:"kind"`
	Load    *sampleLoad   `yaml:"load"`
	Options Pairs         `yaml:"options"`
	Secret  Refused       `yaml:"password" refuse:"must not stand in a file: write password_env"`
	Hidden  string
}

type sampleKeys struct {
	Kind  string `yaml:"kind"`
	Count int    `yaml:"count"`
}

type sampleLoad struct {
	Rate  quantity.PerSecond `yaml:"rate"`
	Steps []sampleStep       `yaml:"steps"`
}

type sampleStep struct {
	Rate quantity.PerSecond `yaml:"rate"`
	For  quantity.Span      `yaml:"for"`
}

func decodeSample(file string, src []byte) (*sample, *Document) {
	s := &sample{Name: "default", Size: 7}
	return s, Decode(file, src, s)
}

func TestDecodeTakesEveryKindOfField(t *testing.T) {
	got, doc := decodeSample("a.yaml", []byte("\uFEFF---\r\n"+strings.ReplaceAll(`
name: 'x # y'       # a comment
small: -3
large: 9223372036854775807
seed: 18446744073709551615
factor: 1.5e3
on: true
size: 64KB
hosts: [a:1, "b:2"]
keys: zipf
load:
  rate: 600/min
  steps:
    - {rate: 10k/s, for: 10s}
    - rate: 20k/s
      for: 1m30s
options:
  z.last: "07"
  a: 1.50
  b: true
  text: |
    two
    lines
`, "\n", "\r\n")))
	if err := doc.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range got.Options {
		got.Options[i].At = Place{}
	}
	want := &sample{
		Name: "x # y", Small: -3, Large: 1<<63 - 1, Seed: 1<<64 - 1, Factor: 1500, On: true,
		Size:  65536,
		Hosts: []string{"a:1", "b:2"}, Keys: sampleKeys{Kind: "zipf"},
		Load: &sampleLoad{Rate: 10, Steps: []sampleStep{{10e3, 10e9}, {20e3, 90e9}}},
		Options: Pairs{{Name: "z.last", Value: "07"}, {Name: "a", Value: "1.50"},
			{Name: "b", Value: "true"},
			{Name: "text", Value: "two\nlines\n"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAbsentKeysKeepTheirDefaults(t *testing.T) {
	got, doc := decodeSample("", []byte("{}"))
	if err := doc.Err(); err != nil {
		t.Fatal(err)
	}
	if got.Name != "default" || got.Size != 7 || doc.Has("name") {
		t.Errorf("got %+v", got)
	}
}

// TestGolden compares the text of every error, as a terminal shows it.
func TestGolden(t *testing.T) {
	golden.Each(t, "testdata/*.yaml", func(name string, src []byte) string {
		_, doc := decodeSample(name, src)
		return textOf(doc.Err())
	})
}

func textOf(err error) string {
	if err == nil {
		return "no error\n"
	}
	return err.Error() + "\n"
}

// The error for an empty file says what such a file needs.
func TestEmptyFileSaysWhatItNeeds(t *testing.T) {
	var into struct{}
	err := Decode("f", []byte("# nothing\n"), &into, "a target needs its system").Err()
	if want := "f: is empty: a target needs its system"; err == nil || err.Error() != want {
		t.Error(err)
	}
}

func TestInputsThatAreNotText(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"nothing":        {"", "f: is empty: write at least {}"},
		"blanks":         {" \n\n", "f: is empty: write at least {}"},
		"only a comment": {"# hello\n", "f: is empty: write at least {}"},
		"only a header":  {"---\n", "f: is empty: write at least {}"},
		"too large": {strings.Repeat("a: b\n", MaxBytes/5+1),
			"f: is larger than 1 MiB: keep it smaller"},
		"latin 1": {"name: caf\xe9\n",
			"f:1:10: byte 0xe9 is not UTF-8 text: save the file as UTF-8"},
		"a NUL": {"name: a\nsmall: \x00\n",
			"f:2:8: control character U+0000 does not belong in a text file: remove it"},
		"ELF": {"\x7fELF\x02\x01\x01",
			"f:1:1: control character U+007F does not belong in a text file: remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, doc := decodeSample("f", []byte(c.src))
			if err := doc.Err(); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %v", err, c.want)
			}
			if !doc.Broken() {
				t.Error("not broken")
			}
		})
	}
}

// TestBombs: inputs made to exhaust a parser are refused quickly.
func TestBombs(t *testing.T) {
	for name, src := range map[string]string{
		"brackets":      strings.Repeat("[", MaxBytes),
		"braces":        strings.Repeat("{", MaxBytes/2),
		"dashes":        strings.Repeat("- ", MaxBytes/2),
		"question":      strings.Repeat("? ", MaxBytes/2),
		"tags":          strings.Repeat("!a ", MaxBytes/3),
		"anchors":       strings.Repeat("&a ", MaxBytes/3),
		"colons":        strings.Repeat("a: ", MaxBytes/3),
		"bracket pairs": "x: " + strings.Repeat("[{a: ", MaxBytes/8),
		"indentation":   stairs(700),
		"dash stairs":   dashStairs(700),
	} {
		t.Run(name, func(t *testing.T) {
			if _, doc := decodeSample("bomb", []byte(src)); doc.Err() == nil {
				t.Error("accepted")
			}
		})
	}
}

// The depth of a file does not depend on its length.
func TestListsBesideLists(t *testing.T) {
	var into struct {
		Groups []struct {
			Name  string `yaml:"name"`
			Items []struct {
				Name string `yaml:"name"`
			} `yaml:"items"`
		} `yaml:"groups"`
	}
	src := "groups:\n" +
		strings.Repeat("  - name: a\n    items:\n      - {name: b}\n      - name: c\n", 50)
	if err := Decode("long", []byte(src), &into).Err(); err != nil || len(into.Groups) != 50 ||
		len(into.Groups[49].Items) != 2 {
		t.Error(err)
	}
}

func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func dashStairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "-\n")
	}
	return b.String()
}

func TestRejectPointsAtTheValue(t *testing.T) {
	_, doc := decodeSample("w.yaml",
		[]byte("size: 1KB\nload:\n  steps: [{rate: 0}]\nkeys: {count: x}\n"))
	doc.Reject("load.steps[0].rate", "must be above 0")
	doc.Reject("load.rate", "must be there")
	doc.Reject("keys.count", "was refused already")
	doc.Reject("keys", "was refused already, in part")
	doc.RejectSecret("size", "must not be shown")
	doc.Reject("", "as a whole, it will not do")
	want := strings.Join([]string{
		"w.yaml:1:7: size must not be shown",
		"    1 | size: …",
		"      |       ^",
		"w.yaml:3:18: load.steps[0].rate must be above 0",
		"    3 |   steps: [{rate: 0}]",
		"      |                  ^",
		`w.yaml:4:15: keys.count: "x" is not a whole number`,
		"    4 | keys: {count: x}",
		"      |               ^",
		"w.yaml: load.rate must be there",
		"w.yaml: as a whole, it will not do",
	}, "\n")
	if diff := cmp.Diff(want, doc.Err().Error()); diff != "" {
		t.Error(diff)
	}
	if at := doc.At("load"); at.Line != 2 || at.Column != 1 {
		t.Errorf("load is at %+v", at)
	}
}

func TestUnplacedDocumentCollectsRules(t *testing.T) {
	doc := Unplaced()
	if doc.Err() != nil || doc.Has("a") || doc.At("a") != (Place{}) {
		t.Error("an unplaced document is not empty")
	}
	doc.Reject("a", "must be b")
	doc.RejectSecret("c", "must be d")
	if got := doc.Err().Error(); got != "a must be b\nc must be d" {
		t.Errorf("got %q", got)
	}
}

func TestViolationsReadWell(t *testing.T) {
	v := Violations{
		{Message: "no place"},
		{File: "b", Message: "no line"},
		{File: "b", Line: 10, Column: 2, Message: "ten"},
		{File: "b", Line: 9, Column: 3, Message: "nine", Excerpt: "    9 | x\n      | ^\n"},
		{Line: 1, Column: 1, Message: "no file"},
	}
	before := append(Violations{}, v...)
	want := "1:1: no file\nno place\nb:9:3: nine\n    9 | x\n      | ^\nb:10:2: ten\nb: no line"
	if got := v.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !reflect.DeepEqual(before, v) {
		t.Error("printing changed the order")
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if src, err := ReadFile(write("fits.yaml", MaxBytes)); err != nil || len(src) != MaxBytes {
		t.Errorf("%d bytes, %v", len(src), err)
	}
	large := write("large.yaml", MaxBytes+1)
	for _, c := range []struct{ path, want string }{
		{dir, dir + " is a folder: name a file in it"},
		{large, large + " is larger than 1 MiB, the most that is read of it: name the file that was meant"},
		{filepath.Join(dir, "nothing"), filepath.Join(dir, "nothing") +
			" does not exist: check the path"},
		{filepath.Join(dir, "lareg.yaml"), filepath.Join(dir, "lareg.yaml") +
			" does not exist: did you mean " + large + "?"},
		{filepath.Join(large, "x"), filepath.Join(large, "x") +
			" cannot be read: not a directory: check the path"},
		{"", "the file's name is empty: name a file"},
	} {
		if _, err := ReadFile(c.path); err == nil || err.Error() != c.want {
			t.Errorf("ReadFile(%q)\ngot  %v\nwant %v", c.path, err, c.want)
		}
	}
	_, err := ReadFile(filepath.Join(dir, "nothing"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v hides its cause", err)
	}
	if got := explain("x",
		os.ErrPermission).Error(); got != "x may not be read: give this user the right to read it" {
		t.Error(got)
	}
}

func FuzzDecode(f *testing.F) {
	golden.Seeds(f, "testdata/*.yaml")
	f.Fuzz(func(t *testing.T, src []byte) {
		_, doc := decodeSample("fuzz", src)
		doc.Reject("name", "is rejected")
		doc.Reject("load.steps[0].rate", "is rejected")
		err := doc.Err()
		if err == nil {
			t.Fatal("a rejection was lost")
		}
		for _, v := range err.(Violations) {
			if v.Message == "" || strings.Contains(v.Message, "\n") || v.Line < 0 || v.Column < 0 {
				t.Errorf("violation %+v", v)
			}
			if v.Line > strings.Count(string(src), "\n")+strings.Count(string(src), "\r")+1 {
				t.Errorf("line %d of a shorter file: %+v", v.Line, v)
			}
		}
	})
}

func TestSparseTakesEmptyForAbsent(t *testing.T) {
	var into struct {
		Name  string `yaml:"name"`
		Count int    `yaml:"count"`
		In    struct {
			List []string `yaml:"list"`
		} `yaml:"in"`
	}
	into.Name, into.Count = "kept", 7
	src := []byte("name:\ncount: null\nin:\n  list: ~\n")
	doc := DecodeSparse("sparse.yaml", src, &into)
	if err := doc.Err(); err != nil || into.Name != "kept" || into.Count != 7 ||
		into.In.List != nil {
		t.Errorf("%v %+v", err, into)
	}
	if doc.Has("name") || doc.Has("in.list") || !doc.Has("in") {
		t.Error("an empty key counts as given, or what is around one does not")
	}
	if Decode("strict.yaml", src, &into).Err() == nil {
		t.Error("Decode takes it too")
	}
}

// keysOf is a table of keys of each kind.
func keysOf(name, file *string, count *int, options *Pairs) Keys {
	return Keys{
		{Path: "name", Into: name, Default: "default"},
		{Path: "cluster.count", Into: count, Default: "3", Block: true},
		{Path: "options", Into: options, Hidden: len(*options) == 0},
		{Path: "tls.file", Into: file, Hidden: *file == "", Empty: true},
		{Path: "password", Refuse: "must not stand here"},
	}
}

func TestKeysHaveDefaultsAndRefusals(t *testing.T) {
	var name, file string
	var count int
	var options Pairs
	keys := keysOf(&name, &file, &count, &options)
	keys.SetDefaults()
	want := "name: default\ncluster:\n  count: 3\ntls: {}\n"
	if got := keys.YAML(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	doc := Decode("k.yaml", []byte("options: {a: \"1\"}\ntls: {file: x}\npassword: hunter2"), &keys)
	err := doc.Err()
	if err == nil || !strings.Contains(err.Error(), "password must not stand here") ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
	keys = keysOf(&name, &file, &count, &options)
	want = "name: default\ncluster:\n  count: 3\noptions:\n  a: \"1\"\ntls: {file: x}\n"
	if got := keys.YAML(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if err := Decode("k.yaml", []byte("passwort: x"), &keys).Err(); err == nil ||
		strings.Contains(err.Error(), `"password"`) {
		t.Errorf("a refused key is suggested: %v", err)
	}
}
