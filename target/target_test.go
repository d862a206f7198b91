package target

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

var systems = []string{"kafka", "nats", "pulsar", "rabbitmq"}

// TestGolden compares the text of every error, as in a terminal, and of every printed target with
// golden files.
func TestGolden(t *testing.T) {
	golden.Each(t, "testdata/*.yaml", func(name string, src []byte) string {
		var text string
		if target, err := parse(name, src, systems); err != nil {
			text = err.Error() + "\n"
		} else {
			text = target.YAML()
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s: a secret is shown", name)
		}
		return text
	})
}

func TestSettingsKnowTheirPlace(t *testing.T) {
	got, err := Parse("t.yaml", []byte("system: nats\nsettings:\n  b: 64KB\n  a: \"x\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Target{
		Name: "nats", System: "nats", Testbed: Testbed{Nodes: 3},
		Settings: []Setting{
			{Name: "b", Value: "64KB", At: Place{File: "t.yaml", Line: 3, Column: 6,
				Excerpt: "    3 |   b: 64KB\n      |      ^"}},
			{Name: "a", Value: "x", At: Place{File: "t.yaml", Line: 4, Column: 6,
				Excerpt: "    4 |   a: \"x\"\n      |      ^"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFindResolvesNamesAndPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.yaml", "system: kafka\nname: mine\n")
	write("nats", "system: pulsar\n")
	write("bad.yaml", "system: natz\n")
	for given, want := range map[string]string{"nats": "nats", "./nats": "pulsar",
		"mine.yaml": "mine"} {
		got, source, err := Find(given, systems)
		if err != nil || got.Name != want || source == "" {
			t.Errorf("Find(%q) = %+v, %v", given, got, err)
			continue
		}
		again, err := Parse("source", []byte(source))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Error(diff)
		}
	}
	for given, want := range map[string]string{
		"": "the target is empty: name a file, or one of the systems kafka, nats, " +
			"pulsar, rabbitmq",
		"kakfa":     `unknown system "kakfa": did you mean "kafka"?`,
		"sqs":       `unknown system "sqs": the systems are kafka, nats, pulsar, rabbitmq`,
		"no.yaml":   "target file no.yaml does not exist: check the path",
		"miin.yaml": "target file miin.yaml does not exist: did you mean mine.yaml?",
		"bad.yaml": "bad.yaml:1:9: system is unknown: unknown system \"natz\": did " +
			"you mean \"nats\"?\n" +
			"    1 | system: natz\n      |         ^",
	} {
		if _, _, err := Find(given, systems); err == nil || err.Error() != want {
			t.Errorf("Find(%q)\ngot  %v\nwant %v", given, err, want)
		}
	}
}

func TestValidateNeedsNoFile(t *testing.T) {
	if err := Of("nats").Validate(); err != nil {
		t.Error(err)
	}
	bad := &Target{
		Name: "a b", Endpoints: []string{"x:1", ""}, Testbed: Testbed{Nodes: 3},
		Settings: []Setting{{Name: "", Value: "x"}}, Credentials: Credentials{UserEnv: "a-b",
			PasswordEnv: "A", PasswordFile: "b"},
	}
	want := strings.Join([]string{
		"system is missing: name one, like system: nats",
		"name holds ' ': use letters, digits, - _ and . and begin with a letter or digit",
		"endpoints[1] is empty: write host:port or remove it",
		"testbed cannot be combined with endpoints: endpoints name a cluster that runs, a " +
			"testbed is " +
			"one to start, keep one",
		`settings holds a name or value that is empty, too long or not printable text: look at ""`,
		"credentials.user_env is not the name of an environment variable: write a name of " +
			"letters, digits and _, not the value",
		"credentials.password_file cannot be combined with password_env: keep one",
	}, "\n")
	if err := bad.Validate(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%v", err, want)
	}
}

func TestCredentialsAreResolved(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := map[string]string{"USER_NAME": "alice", "EMPTY": ""}
	lookup := func(name string) (string, bool) { value, set := env[name]; return value, set }

	got, err := Credentials{
		UserEnv: "USER_NAME", PasswordFile: path("one", "hunter2\n"), AdminUserFile: path("two",
			" root \r\n"), AdminPasswordEnv: "USER_NAME",
	}.Resolve(lookup)
	if err != nil || got != (Secrets{"alice", "hunter2", " root ", "alice"}) {
		t.Errorf("got %q, %v", got.Password, err)
	}
	if got, err := (Credentials{}).Resolve(lookup); err != nil || got != (Secrets{}) {
		t.Error("credentials from nothing", err)
	}
	absent := filepath.Join(dir, "nothing-here")
	empty := path("empty", "\n")
	_, err = Credentials{UserEnv: "NOT_SET", PasswordEnv: "EMPTY", AdminUserFile: absent,
		AdminPasswordFile: empty}.Resolve(lookup)
	want := strings.Join([]string{
		"credentials.user_env: the environment variable NOT_SET is not set: export it or correct " +
			"the name",
		"credentials.password_env: the environment variable EMPTY is empty: give it a value or " +
			"remove the key",
		"credentials.admin_user_file: " + absent + " does not exist: check the path",
		"credentials.admin_password_file: " + empty +
			" is empty: write the value into it or remove the key",
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%v", err, want)
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	s := Secrets{"hunter2", "hunter2", "hunter2", "hunter2"}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secrets", s)
	text, err := json.Marshal(map[string]any{"a": s, "b": &s})
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprint(s, &s, log.String(), string(text)) +
		fmt.Sprintf("%v %+v %#v %s %q", s, s, s, s, struct{ S Secrets }{s})
	if strings.Contains(shown, "hunter2") {
		t.Error(shown)
	}
}

func TestWhatIsPrintedIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Of(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_.-]{0,20}`).Draw(t, "system"))
		want.Name = rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_.-]{0,20}`).Draw(t, "name")
		text := rapid.StringOf(rapid.RuneFrom([]rune("aZ09 :#'\"{}[],&*!|>%@`-?\\\n\tßé漢~<=")))
		name := text.Filter(func(s string) bool { return s != "" })
		seen := map[string]bool{}
		for i := range rapid.IntRange(0, 4).Draw(t, "settings") {
			s := Setting{Name: name.Draw(t, "setting"), Value: text.Draw(t, "value")}
			if i > 0 && seen[s.Name] {
				continue
			}
			seen[s.Name] = true
			want.Settings = append(want.Settings, s)
		}
		if rapid.Bool().Draw(t, "runs") {
			want.Testbed = Testbed{}
			want.Endpoints = rapid.SliceOfNDistinct(
				rapid.StringMatching(`[a-z:/"'\[\]{},*!|>%0-9.-]{1,20}`).Filter(portFits), 1, 4,
				rapid.ID).Draw(t, "endpoints")
		} else {
			want.Testbed = Testbed{rapid.IntRange(1, MaxNodes).Draw(t, "nodes"),
				text.Draw(t, "dir")}
		}
		want.Credentials.UserEnv = rapid.StringMatching(`([A-Z_][A-Z0-9_]{0,9})?`).Draw(t, "env")
		want.Credentials.AdminPasswordFile = text.Draw(t, "file")
		if err := want.Validate(); err != nil {
			t.Fatal(err)
		}
		got, err := Parse("printed", []byte(want.YAML()))
		if err != nil {
			t.Fatal(err, "\n", want.YAML())
		}
		for i := range got.Settings {
			got.Settings[i].At = Place{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff, "\n", want.YAML())
		}
	})
}

func FuzzParse(f *testing.F) {
	golden.Seeds(f, "testdata/*.yaml")
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := Parse("fuzz", src)
		if (got == nil) == (err == nil) {
			t.Fatal("neither a target nor an error, or both")
		}
		if err != nil {
			if _, ok := err.(strict.Violations); !ok || err.Error() == "" {
				t.Fatalf("error %T %v", err, err)
			}
			return
		}
		if err := got.Validate(); err != nil {
			t.Fatalf("what was parsed is not valid: %v", err)
		}
		again, err := Parse("printed", []byte(got.YAML()))
		if err != nil {
			t.Fatalf("%v\n%s", err, got.YAML())
		}
		for i := range got.Settings {
			got.Settings[i].At, again.Settings[i].At = Place{}, Place{}
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
