package command

import (
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/result"
)

// built is Go's record of a build of a version.
func built(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
	return &debug.BuildInfo{Main: debug.Module{Path: module, Version: version},
		Settings: settings}
}

func TestBuildSaysItsVersion(t *testing.T) {
	revision := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "false"},
	}
	for _, c := range []struct {
		name   string
		linked string
		info   *debug.BuildInfo
		want   result.Build
	}{
		{"make build", "v0.1.0+0123456", built("(devel)", revision...),
			result.Build{Version: "v0.1.0+0123456", Commit: "0123456789ab"}},
		{"go install of a version", "", built("v0.1.0"),
			result.Build{Version: "v0.1.0"}},
		{"go install in a clone", "", built("v0.1.1-0.20261123-0123456789ab", revision...),
			result.Build{Version: "v0.1.1-0.20261123-0123456789ab", Commit: "0123456789ab"}},
		{"go run without a repository", "", built("(devel)"),
			result.Build{Version: "devel"}},
		{"a program with systems of its own", "", &debug.BuildInfo{
			Main: debug.Module{Path: "example.com/mine", Version: "v7.0.0"}, Settings: revision,
			Deps: []*debug.Module{{Path: "example.com/other", Version: "v3.0.0"},
				{Path: module, Version: "v0.1.0"}},
		}, result.Build{Version: "v0.1.0"}},
		{"no record of the build", "", nil, result.Build{Version: "devel"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Go = runtime.Version()
			if diff := cmp.Diff(c.want, buildFrom(c.linked, c.info)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The Makefile takes the version from the newest numbered heading.
func TestChangelogHasTheVersion(t *testing.T) {
	changelog, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(changelog), -1)
	if len(headings) < 2 || headings[0][1] != "[Unreleased]" {
		t.Fatal("CHANGELOG.md does not begin with '## [Unreleased]' and a version after it")
	}
	release := regexp.MustCompile(`^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$`)
	for _, h := range headings[1:] {
		if !release.MatchString(h[1]) {
			t.Errorf("CHANGELOG.md: heading %q is not like '[0.1.0] - 2026-11-23'", h[1])
		}
	}
}
