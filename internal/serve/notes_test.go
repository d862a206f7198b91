package serve

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/result"
)

// post sends a form from a page of the server.
func post(t *testing.T, f *Folder, path string, form url.Values) (code int, body string) {
	t.Helper()
	code, _, body = asked{method: "POST", path: path, body: form.Encode(),
		head: map[string]string{"Sec-Fetch-Site": "same-origin"}}.of(t, f.Server)
	return code, body
}

var versionField = regexp.MustCompile(`name="version" value="([^"]+)"`)

// Of two browsers that show the same notes, the second to save sees what the first saved.
func TestNotesAreNotReplacedUnseen(t *testing.T) {
	f, root := folder(t)
	version := func(body string) string {
		t.Helper()
		found := versionField.FindStringSubmatch(body)
		if found == nil {
			t.Fatalf("no version:\n%s", body)
		}
		return found[1]
	}
	save := func(tags, note, version string) (int, string) {
		return post(t, f, "/notes/a", url.Values{"tags": {tags}, "note": {note},
			"version": {version}})
	}
	kept := func(tags, note string) {
		t.Helper()
		n := experiment.ReadNotes(filepath.Join(root, "a"))
		if strings.Join(n.Tags, " ") != tags || n.Note != note {
			t.Errorf("%+v, want %q, %q", n, tags, note)
		}
	}
	_, _, form := asked{path: "/notes/a"}.of(t, f.Server)
	shown := version(form)
	if code, body := save("first", "<i>", shown); code != 303 {
		t.Fatalf("%d: %s", code, body)
	}
	code, body := save("second", "mine", shown)
	kept("first", "<i>")
	for _, says := range []string{"Not saved", "<dd>first</dd>", "&lt;i&gt;</dd>",
		`value="second"`, ">mine</textarea>"} {
		if code != 409 || !strings.Contains(body, says) {
			t.Errorf("%d without %q:\n%s", code, says, body)
		}
	}
	if code, body := save("first", "<i>", shown); code != 303 {
		t.Errorf("the saved notes again: %d %s", code, body)
	}
	if code, body := save("first, second", "mine", version(body)); code != 303 {
		t.Errorf("after a look: %d %s", code, body)
	}
	kept("first second", "mine")
}

// A request that does not name the version of the notes that it replaces changes nothing.
func TestNotesAreReplacedByVersion(t *testing.T) {
	f, root := folder(t)
	n := experiment.Notes{Tags: []string{"x"}, Note: "n"}
	if err := n.Save(filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	for _, form := range []url.Values{{"tags": {"y"}}, {"note": {""}},
		{"tags": {""}, "note": {""}}, {"tags": {"x"}, "note": {"n"}}} {
		code, body := post(t, f, "/notes/a", form)
		now := experiment.ReadNotes(filepath.Join(root, "a"))
		if code != 422 || !strings.Contains(body, "send the field version") ||
			now.Version() != n.Version() {
			t.Errorf("%v: %d %+v\n%s", form, code, now, body)
		}
	}
}

func TestFieldsThatAreNotSentStay(t *testing.T) {
	f, root := folder(t)
	for _, c := range []struct {
		form             url.Values
		code             int
		says, tags, note string
	}{
		{url.Values{"tags": {"x, y"}, "note": {"n"}}, 303, "", "x y", "n"},
		{nil, 422, "nothing is changed", "x y", "n"},
		{url.Values{"other": {""}}, 422, "nothing is changed", "x y", "n"},
		{url.Values{"tags": {"z"}}, 303, "", "z", "n"},
		{url.Values{"note": {""}}, 303, "", "z", ""},
		{url.Values{"tags": {""}, "note": {""}}, 303, "", "", ""},
	} {
		n := experiment.ReadNotes(filepath.Join(root, "a"))
		if c.form != nil {
			c.form.Set("version", n.Version())
		}
		code, body := post(t, f, "/notes/a", c.form)
		n = experiment.ReadNotes(filepath.Join(root, "a"))
		if code != c.code || !strings.Contains(body, c.says) ||
			strings.Join(n.Tags, " ") != c.tags || n.Note != c.note {
			t.Errorf("%v: %d %+v\n%s", c.form, code, n, body)
		}
	}
}

func TestDeletedExperimentsAreRestored(t *testing.T) {
	f, root := folder(t)
	trash := filepath.Join(root, TrashFolder)
	list := func(path string) string {
		code, _, body := asked{path: path}.of(t, f.Server)
		if code != 200 {
			t.Errorf("%s: %d", path, code)
		}
		return body
	}
	if body := list("/trash/"); !strings.Contains(body, "Nothing is deleted") ||
		strings.Contains(list("/"), `href="/trash/"`) {
		t.Error(body)
	}
	if code, body := post(t, f, "/trash/nested/b", nil); code != 303 {
		t.Fatalf("%d: %s", code, body)
	}
	if !strings.Contains(list("/"), `href="/trash/"`) ||
		!strings.Contains(list("/trash/"), `action="/restore/nested/b"`) {
		t.Error(list("/trash/"))
	}
	if err := os.Remove(filepath.Join(root, "nested")); err != nil {
		t.Fatal(err)
	}
	if code, body := post(t, f, "/restore/nested/b", nil); code != 303 {
		t.Fatalf("%d: %s", code, body)
	}
	if _, err := os.Stat(filepath.Join(root, "nested", "b", result.RunFile)); err != nil {
		t.Error(err)
	}
	if !strings.Contains(list("/"), `value="nested/b"`) {
		t.Error("the restored run is not listed")
	}
	if code, body := post(t, f, "/trash/a", nil); code != 303 {
		t.Fatalf("%d: %s", code, body)
	}
	writeRun(t, filepath.Join(root, "a"), &result.Run{})
	writeRun(t, filepath.Join(trash, "a", "inner"), &result.Run{})
	for place, c := range map[string]struct {
		code int
		says string
	}{"a": {422, "rename or delete it"}, "a/inner": {403, "belongs to an experiment"},
		"nested/b": {404, "not there"}, "..%2fother": {403, "out of the folder"}, "": {404, "named"},
	} {
		if code, body := post(t, f, "/restore/"+place, nil); code != c.code ||
			!strings.Contains(body, c.says) {
			t.Errorf("%q: %d %s", place, code, body)
		}
	}
	if err := os.RemoveAll(trash); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, trash); err != nil {
		t.Fatal(err)
	}
	if code, body := post(t, f, "/restore/a", nil); code != 404 || strings.Contains(
		list("/trash/"), "nested/b") {
		t.Errorf("a trash folder that is a link: %d %s", code, body)
	}
}
