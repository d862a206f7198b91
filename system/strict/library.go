package strict

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Library holds the YAML files that are built in for one kind of input. They are in the
// folder library of Files.
type Library struct {
	Kind  string // of the inputs: workload
	Files fs.ReadFileFS
}

const (
	libraryFolder = "library/"
	extension     = ".yaml"
)

// Names lists the names of the library, sorted.
func (l Library) Names() []string {
	files, err := fs.Glob(l.Files, libraryFolder+"*"+extension)
	if err != nil {
		panic(l.Kind + ": the library is broken: " + err.Error())
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(file, libraryFolder), extension)
	}
	return names
}

// Read reads what a person named: an input of the library, or a file by its path. It returns
// the file's name for error messages. The error is one sentence.
func (l Library) Read(nameOrPath string) (src []byte, fileName string, err error) {
	// A name with a slash is a path and must not reach into the library.
	if !strings.ContainsAny(nameOrPath, `/\`) {
		src, err = l.Files.ReadFile(libraryFolder + nameOrPath + extension)
		if err == nil {
			return src, nameOrPath + extension, nil
		}
		if !IsPath(nameOrPath) {
			return nil, "", errors.New(Unknown(l.Kind, nameOrPath, l.Names()))
		}
	}
	if src, err = ReadFile(nameOrPath); err != nil {
		return nil, "", fmt.Errorf("%s file %w", l.Kind, err)
	}
	return src, nameOrPath, nil
}
