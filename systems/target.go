package systems

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// builtIn holds systems/NAME/targets/TARGET.yaml, the built-in targets of the system NAME.
//
//go:embed */targets/*.yaml
var builtIn embed.FS

// FindTarget returns the target for a name or a file, and its source: a system with default
// settings, a built-in target of a system, or a YAML file.
func FindTarget(nameOrPath string) (t *target.Target, source string, err error) {
	for _, s := range All() {
		for _, file := range targetFiles(s) {
			if targetName(file) != nameOrPath {
				continue
			}
			src, err := builtIn.ReadFile(file)
			if err != nil {
				return nil, "", err
			}
			t, err = target.Parse(path.Base(file), src)
			return t, string(src), err
		}
	}
	return target.Find(nameOrPath, Registry().Names())
}

// AllLocal is the name for all targets of Local.
const AllLocal = "all"

// Local returns the names of all targets whose servers plimsoll can start on a machine that
// has their software: the built-in targets of a system if it has some, and otherwise the system
// itself.
func Local() []string {
	var names []string
	for _, s := range All() {
		if _, provisions := s.(system.Provisioner); !provisions {
			continue
		}
		for _, name := range Variants(s) {
			if t, _, err := FindTarget(name); err == nil && system.Starts(s, t) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Variants returns the names of a system's built-in targets, or the system's own name if it has
// none.
func Variants(s system.System) []string {
	if names := TargetNames(s); len(names) > 0 {
		return names
	}
	return []string{s.Describe().Name}
}

// TargetNames returns the names of a system's built-in targets.
func TargetNames(s system.System) []string {
	var names []string
	for _, file := range targetFiles(s) {
		names = append(names, targetName(file))
	}
	return names
}

func targetName(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

func targetFiles(s system.System) []string {
	// Cannot fail: the pattern is well formed, and the files are embedded.
	files, _ := fs.Glob(builtIn, s.Describe().Name+"/targets/*.yaml")
	slices.Sort(files)
	return files
}
