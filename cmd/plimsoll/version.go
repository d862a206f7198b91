package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/plimsoll-bench/plimsoll/result"
)

// version is set by the Makefile, from CHANGELOG.md. Without it, as after 'go
// install', Go's own record of the build has it.
var version string

type versionCommand struct{}

// Run prints the version.
func (*versionCommand) Run(con console) error {
	_, err := fmt.Fprintln(con.out, versionLine())
	return err
}

// versionLine returns the version, the commit if known, and Go's version.
func versionLine() string {
	b := build()
	if b.Commit == "" {
		return fmt.Sprintf("plimsoll %s %s", b.Version, b.Go)
	}
	return fmt.Sprintf("plimsoll %s %s %s", b.Version, b.Commit, b.Go)
}

// build says which plimsoll this is.
func build() result.Build {
	info, _ := debug.ReadBuildInfo()
	return buildFrom(version, info)
}

// buildFrom takes the version given to the linker, or else the one that Go
// recorded: of the module, or of the tree that it was built from.
func buildFrom(linked string, info *debug.BuildInfo) result.Build {
	b := result.Build{Version: linked, Go: runtime.Version()}
	if info != nil {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value[:min(12, len(s.Value))]
			}
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	return b
}
