package study

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
)

//go:embed library/*.yaml
var library embed.FS

const (
	libraryDir = "library/"
	extension  = ".yaml"
)

// Names lists the studies that are built in, sorted.
func Names() []string {
	files, err := fs.Glob(library, libraryDir+"*"+extension)
	if err != nil {
		panic("study: the library is broken: " + err.Error())
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(file, libraryDir), extension)
	}
	return names
}

// Find resolves a name of the library or the path of a file. The error is a
// strict.Violations when a file does not hold a valid study, and one sentence
// when there is no such file or name.
func Find(nameOrPath string) (*Study, error) {
	if !strings.ContainsAny(nameOrPath, `/\`) {
		src, err := library.ReadFile(libraryDir + nameOrPath + extension)
		if err == nil {
			return Parse(nameOrPath+extension, src)
		}
		if !strict.IsPath(nameOrPath) {
			return nil, errors.New(strict.Unknown("study", nameOrPath, Names()))
		}
	}
	src, err := strict.ReadFile(nameOrPath)
	if err != nil {
		return nil, fmt.Errorf("study file %w", err)
	}
	return Parse(nameOrPath, src)
}
