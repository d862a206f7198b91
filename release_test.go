package plimsoll_test

import (
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"
)

// release is the part of .goreleaser.yaml that the tests read.
type release struct {
	Version  int
	Env      []string
	Builds   []struct{ Goos, Goarch []string }
	Archives []struct {
		NameTemplate string `yaml:"name_template"`
	}
	Packages []struct{ Formats []string }           `yaml:"nfpms"`
	Images   []struct{ Images, Platforms []string } `yaml:"dockers_v2"`
	SBOMs    []struct{ Artifacts string }           `yaml:"sboms"`
	Checksum struct {
		Name string `yaml:"name_template"`
	}
}

func readRelease(t *testing.T) (r release) {
	t.Helper()
	raw, err := os.ReadFile(".goreleaser.yaml")
	if err == nil {
		err = yaml.Unmarshal(raw, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The archives are those that the README's line looks for: it asks uname for the names of the
// system and the machine.
func TestAReleaseHasEveryPlatform(t *testing.T) {
	r := readRelease(t)
	if r.Version != 2 || len(r.Builds) != 1 || len(r.Archives) != 1 {
		t.Fatalf("%+v", r)
	}
	name, err := template.New("archive").Funcs(template.FuncMap{
		"title": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
	}).Parse(r.Archives[0].NameTemplate)
	if err != nil {
		t.Fatal(err)
	}
	var archives []string
	for _, system := range r.Builds[0].Goos {
		for _, machine := range r.Builds[0].Goarch {
			var b strings.Builder
			if err := name.Execute(&b, map[string]string{"Os": system, "Arch": machine}); err != nil {
				t.Fatal(err)
			}
			archives = append(archives, b.String())
		}
	}
	want := []string{"plimsoll_Linux_x86_64", "plimsoll_Linux_aarch64", "plimsoll_Darwin_x86_64",
		"plimsoll_Darwin_arm64"}
	if !slices.Equal(archives, want) {
		t.Errorf("archives %q, want %q", archives, want)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if line := "/plimsoll_$(uname -s)_$(uname -m).tar.gz"; !strings.Contains(string(readme), line) {
		t.Errorf("the README does not say how to get %s", line)
	}
	if !slices.Contains(r.Env, "CGO_ENABLED=0") {
		t.Error("the programs are not static")
	}
}

func TestAReleaseHasPackagesAndAnImage(t *testing.T) {
	r := readRelease(t)
	if len(r.Packages) != 1 || !slices.Equal(r.Packages[0].Formats, []string{"deb", "rpm"}) {
		t.Errorf("packages: %v", r.Packages)
	}
	platforms := []string{"linux/amd64", "linux/arm64"}
	if len(r.Images) != 1 || !slices.Equal(r.Images[0].Platforms, platforms) {
		t.Errorf("images: %v", r.Images)
	}
	if len(r.SBOMs) != 1 || r.SBOMs[0].Artifacts != "binary" || r.Checksum.Name == "" {
		t.Errorf("lists of modules: %v, checksums: %v", r.SBOMs, r.Checksum)
	}
}

// A release whose tag is not the changelog's newest version, or whose changelog has more to tell,
// fails before anything is built.
func TestAReleaseIsTheNewestVersionOfTheChangelog(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is missing")
	}
	makefile, err := filepath.Abs("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	const versions = "## [1.2.3] - 2026-01-03\n\n- New.\n\n## [1.2.2] - 2026-01-02\n\n- Old.\n"
	for name, c := range map[string]struct{ changelog, tag, want string }{
		"the newest version": {"## [Unreleased]\n\n" + versions, "v1.2.3", ""},
		"an older version": {"## [Unreleased]\n\n" + versions, "v1.2.2",
			"the newest version in CHANGELOG.md is v1.2.3"},
		"lines without a version": {"## [Unreleased]\n\n- Newer.\n\n" + versions, "v1.2.3",
			"give them a version"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			changelog := filepath.Join(dir, "CHANGELOG.md")
			if err := os.WriteFile(changelog, []byte(c.changelog), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("make", "-C", dir, "-f", makefile, "releasable",
				"TAG="+c.tag).CombinedOutput()
			if (err == nil) != (c.want == "") || !strings.Contains(string(out), c.want) {
				t.Errorf("%v: %s\nwant %q", err, out, c.want)
			}
		})
	}
}

var exactly = regexp.MustCompile(`^[a-z-]+/[a-z-]+@v\d+\.\d+\.\d+$`)

func TestWorkflowsNameExactVersions(t *testing.T) {
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct{ Uses, Run string }
			}
		}
		if err := yaml.Unmarshal(raw, &workflow); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for name, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if (step.Uses == "") == (step.Run == "") ||
					step.Uses != "" && !exactly.MatchString(step.Uses) {
					t.Errorf("%s: job %s has the step %+v", file, name, step)
				}
			}
		}
	}
}

// What plimsoll does on Linux alone is said elsewhere, in a sentence of one form.
func TestOtherSystemsSayWhatNeedsLinux(t *testing.T) {
	said := 0
	goFiles(t, func(file string, fset *token.FileSet, f *ast.File) {
		if !strings.HasSuffix(file, "_other.go") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			text := joined(n)
			if strings.Contains(text, " ") {
				said++
				if !strings.Contains(text, "on Linux only") {
					t.Errorf("%s: %q does not say what is possible on Linux only",
						fset.Position(n.Pos()), text)
				}
			}
			return text == ""
		})
	})
	if said < 5 {
		t.Errorf("%d sentences say what needs Linux", said)
	}
}

// joined returns the text of a string, or of several that are added; "": n is another expression.
func joined(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return joined(n.X) + joined(n.Y)
	}
	return ""
}
