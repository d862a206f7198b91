package study

import (
	"embed"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

//go:embed library/*.yaml
var files embed.FS

var library = strict.Library{Kind: "study", Files: files}

// Names lists the studies that are built in, sorted.
func Names() []string { return library.Names() }

// Find returns a study by its name in the library or by the path of its file. The error is a
// strict.Violations when a file does not hold a valid study, and one sentence when there is no
// such file or name.
func Find(nameOrPath string) (*Study, error) {
	src, fileName, err := library.Read(nameOrPath)
	if err != nil {
		return nil, err
	}
	return Parse(fileName, src)
}
