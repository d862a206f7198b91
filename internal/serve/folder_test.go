package serve

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Names and contents may be anything: each is a page or a sentence, and no markup.
func TestBadDirectoriesAreListedAndShown(t *testing.T) {
	f, root := folder(t)
	const markup = `<img src=x onerror=alert(1)>`
	bad := map[string]struct{ file, content, says string }{
		"torn":         {"run.json", `{"schema_version": 2, "na`, "torn/run.json is damaged, it ends too early: restore"},
		"newer":        {"run.json", `{"schema_version": 99}`, "use a newer plimsoll"},
		"no version":   {"run.json", `{}`, "no schema version"},
		"empty":        {"run.json", ``, "empty/run.json is damaged, it ends too early: restore"},
		"another tool": {"experiment.json", `{"tool": "other"}`, "schema version 0"},
		"an old sweep": {"sweep.json", `{"schema_version": 1, "name": "swept"}`, ">swept<"},
		markup:         {"run.json", `{"schema_version": 2, "name": "` + markup + `"}`, "&lt;img"},
		"$(reboot); '": {"run.json", `{"schema_version": 2, "name": "\"'` + "`" + `"}`, "$(reboot); &#39;"},
		"a\nb":         {"run.json", `{"schema_version": 2, "name": "\u0000\u202e"}`, ""},
		"100%25?#x":    {"run.json", `{"schema_version": 2}`, "100%25?#x"},
	}
	for name, c := range bad {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, _, list := asked{path: "/"}.of(t, f.Server)
	if code != 200 || strings.Contains(list, "<img") {
		t.Fatalf("%d:\n%s", code, list)
	}
	for name, c := range bad {
		if !strings.Contains(list, c.says) {
			t.Errorf("the list lacks %q of %s:\n%s", c.says, name, list)
		}
		at := address("/runs/", name+"/")
		if name != "an old sweep" && !strings.Contains(list, strings.ReplaceAll(at, "'", "%27")) {
			t.Errorf("no link to %s", at)
		}
		for _, path := range []string{at, address("/notes/", name)} {
			code, _, body := asked{path: path}.of(t, f.Server)
			if code != 200 && code != 422 || strings.Contains(body, "<img") {
				t.Errorf("%s: %d\n%s", path, code, body)
			}
		}
	}
}

// A page that panics is a sentence.
func TestPagesThatPanic(t *testing.T) {
	f, _ := folder(t)
	f.pages.render = func(context.Context, []string) ([]byte, error) { panic("torn") }
	if code, _, body := (asked{path: "/runs/a/"}).of(t, f.Server); code != 422 ||
		!strings.Contains(body, "a defect of plimsoll: torn") {
		t.Errorf("%d: %s", code, body)
	}
	f.pages.render = func(context.Context, []string) ([]byte, error) { return []byte("?"), nil }
	if code, _, body := (asked{path: "/runs/a/"}).of(t, f.Server); code != 422 ||
		!strings.Contains(body, "no policy") {
		t.Errorf("%d: %s", code, body)
	}
}

// The list says why a run is not ranked.
func TestListSaysWhatIsNotRanked(t *testing.T) {
	cold := &result.Run{State: result.Complete, Verdicts: []result.Verdict{{Name: verdict.Steady,
		Outcome: result.Broken, Sentence: "cold: its p50 fell"}}}
	var e entry
	if e.ofRun(cold); e.Remark != "cold: not ranked" || e.Bad {
		t.Errorf("%+v", e)
	}
	lost := &result.Run{State: result.Complete, Verdicts: []result.Verdict{{Name: verdict.Loss,
		Outcome: result.Broken}}}
	if e.ofRun(lost); e.Remark != "broke a promise" || !e.Bad {
		t.Errorf("%+v", e)
	}
}

func TestListIsFilteredAndSorted(t *testing.T) {
	f, root := folder(t)
	writeRun(t, filepath.Join(root, "c"), &result.Run{Name: "redis", State: result.Complete,
		Load: result.Load{Workload: "tiny"}, Summary: result.Summary{AchievedRate: 7000}})
	study := filepath.Join(root, "study")
	writeRun(t, filepath.Join(study, "cell"), &result.Run{Name: "hidden"})
	if err := os.WriteFile(filepath.Join(study, experiment.File), []byte(
		`{"schema_version": 2, "kind": "study", "name": "asked", "state": "complete"}`),
		0o644); err != nil {
		t.Fatal(err)
	}
	if err := (&experiment.Notes{Tags: []string{"nightly"}, Note: "Slow disk."}).Save(
		filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	all, more := f.entries.below(root)
	if len(all) != 4 || more {
		t.Fatalf("%+v", all)
	}
	if again, _ := f.entries.below(root); !slices.EqualFunc(all, again,
		func(a, b entry) bool { return a.Place == b.Place && a.Rate == b.Rate }) {
		t.Errorf("read again: %+v", again)
	}
	for _, c := range []struct {
		want   wanted
		places string
	}{
		{wanted{}, "a study nested/b c"},
		{wanted{Sort: "rate"}, "nested/b c a study"},
		{wanted{Sort: "-rate"}, "study a c nested/b"},
		{wanted{Sort: "no such order"}, "a study nested/b c"},
		{wanted{Search: "NATS"}, "a"},
		{wanted{Search: "disk nightly"}, "a"},
		{wanted{Search: "nightly redis"}, ""},
		{wanted{Search: "tiny"}, "c"},
		{wanted{Kind: "study"}, "study"},
		{wanted{State: "failed"}, "nested/b"},
	} {
		var places []string
		for _, e := range c.want.of(all) {
			places = append(places, e.Place)
		}
		if got := strings.Join(places, " "); got != c.places {
			t.Errorf("%+v: %s, want %s", c.want, got, c.places)
		}
	}
	code, _, body := asked{path: "/?q=nightly&sort=-rate"}.of(t, f.Server)
	for _, says := range []string{"1 of 4 experiments", `aria-sort="ascending"`, "Slow disk.",
		`href="/?q=nightly&amp;sort=rate"`} {
		if code != 200 || !strings.Contains(body, says) {
			t.Errorf("%d, without %q:\n%s", code, says, body)
		}
	}
}

func TestNotesAreKeptBesideTheRun(t *testing.T) {
	f, root := folder(t)
	own := map[string]string{"Sec-Fetch-Site": "same-origin"}
	before, err := os.ReadFile(filepath.Join(root, "a", result.RunFile))
	if err != nil {
		t.Fatal(err)
	}
	post := func(path string, form url.Values) (int, string) {
		now := experiment.ReadNotes(filepath.Join(root, strings.TrimPrefix(path, "/notes/")))
		form.Set("version", now.Version())
		code, _, body := asked{method: "POST", path: path, body: form.Encode(), head: own}.of(t,
			f.Server)
		return code, body
	}
	if code, body := post("/notes/a", url.Values{"tags": {"x,  b c ,x,"},
		"note": {"<b>\r\nsecond"}}); code != 303 {
		t.Fatalf("%d: %s", code, body)
	}
	n := experiment.ReadNotes(filepath.Join(root, "a"))
	if !slices.Equal(n.Tags, []string{"x", "b c"}) || n.Note != "<b>\nsecond" {
		t.Errorf("%+v", n)
	}
	if _, _, body := (asked{path: "/notes/a"}).of(t, f.Server); !strings.Contains(body,
		`value="x, b c"`) || !strings.Contains(body, "&lt;b&gt;\nsecond") {
		t.Error(body)
	}
	after, err := os.ReadFile(filepath.Join(root, "a", result.RunFile))
	if err != nil || string(after) != string(before) {
		t.Error("run.json has changed", err)
	}
	for says, form := range map[string]url.Values{
		"too long":  {"tags": {strings.Repeat("x", 41)}},
		"at most":   {"note": {strings.Repeat("x", 8001)}},
		"21 tags":   {"tags": {"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u"}},
		"text only": {"note": {"\x1b[2J"}},
		"control":   {"note": {"\xff"}},
	} {
		if code, body := post("/notes/a", form); code != 422 || !strings.Contains(body, says) {
			t.Errorf("%s: %d %s", says, code, body)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`{"note": "secret"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(root, "nested", "b", experiment.NotesFile)); err != nil {
		t.Fatal(err)
	}
	if n := experiment.ReadNotes(filepath.Join(root, "nested", "b")); n.Note != "" {
		t.Errorf("notes by a link: %+v", n)
	}
	if err := os.WriteFile(filepath.Join(root, "a", experiment.NotesFile), []byte("torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	if n := experiment.ReadNotes(filepath.Join(root, "a")); n.Note != "" || n.Tags != nil {
		t.Errorf("torn notes: %+v", n)
	}
}

func TestDeletedExperimentsGoToTheTrash(t *testing.T) {
	f, root := folder(t)
	own := map[string]string{"Origin": "http://" + f.address}
	trash := func(place string) (int, string) {
		code, _, body := asked{method: "POST", path: address("/trash/", place), head: own}.of(t,
			f.Server)
		return code, body
	}
	result.PointLatest(root, "a")
	inner := filepath.Join(root, "study", "cell")
	writeRun(t, inner, &result.Run{})
	if err := os.WriteFile(filepath.Join(root, "study", experiment.File), []byte("{}"),
		0o644); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{"study/cell": "belongs to an experiment",
		"other": "not an experiment", "": "no experiment", "nowhere": "not there"} {
		code, body := trash(place)
		// A name keeps its first letter, and the sentence has no words of the system's.
		if code < 400 || !strings.Contains(strings.ToLower(body), want) ||
			place != "" && !strings.Contains(body, "&#34;"+place+"&#34; ") ||
			strings.Contains(body, "file does not exist") {
			t.Errorf("%q: %d %s", place, code, body)
		}
	}
	if code, body := trash("a"); code != 303 {
		t.Fatalf("%d: %s", code, body)
	}
	writeRun(t, filepath.Join(root, "a"), &result.Run{})
	if code, body := trash("a"); code != 303 {
		t.Fatalf("%d: %s", code, body)
	}
	for _, left := range []string{".trash/a/run.json", ".trash/a-2/run.json",
		"nested/b/run.json"} {
		if _, err := os.Stat(filepath.Join(root, left)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(root, result.LatestLink)); err == nil {
		t.Error("the latest link leads nowhere")
	}
	if err := os.RemoveAll(filepath.Join(root, TrashFolder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(root, TrashFolder)); err != nil {
		t.Fatal(err)
	}
	if code, body := trash("nested/b"); code != 422 || !strings.Contains(body, "move it away") {
		t.Errorf("a trash folder that is a link: %d %s", code, body)
	}
}
