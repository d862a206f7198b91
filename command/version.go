package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/plimsoll-bench/plimsoll/result"
)

// linked is the version that Main was given.
var linked string

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
	return buildFrom(linked, info)
}

// module is plimsoll's module, of which another program's main may be no part.
const module = "github.com/plimsoll-bench/plimsoll"

// buildFrom takes the version given to the linker, or else the one that Go
// recorded: of plimsoll's module, or of the tree that it was built from.
func buildFrom(linked string, info *debug.BuildInfo) result.Build {
	b := result.Build{Version: linked, Go: runtime.Version()}
	switch {
	case info == nil:
	case info.Main.Path != module:
		for _, d := range info.Deps {
			if d.Path == module && b.Version == "" {
				b.Version = d.Version
			}
		}
	default:
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
