package driver

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// SetPrograms is the setting that names the folder of the servers' programs.
const SetPrograms = "programs"

const programsAuto = "auto"

// DeclarePrograms declares SetPrograms in a table of server settings.
const DeclarePrograms = `
programs text auto
    the folder of the servers' programs, an absolute path; auto: where packages put them
`

// Programs are the programs of a system's servers, which a package brings.
type Programs struct {
	Names   []string // all in one folder
	Folders []string // where packages put them, the best first; none: the folders of the PATH
	Missing system.Missing
}

// Find returns the folder with the programs: the one that the settings name, or else the first that
// has all of them. Without one its error is a *system.Missing.
func (p Programs) Find(s system.Settings) (string, error) {
	if folder := s.Text(SetPrograms); s.Given(SetPrograms) && folder != programsAuto {
		lacks := p.lacking(folder)
		switch {
		case !filepath.IsAbs(folder):
			return "", wrongFolder(s, "is no absolute path")
		case lacks != "":
			return "", wrongFolder(s, "has no program "+lacks)
		}
		return folder, nil
	}
	folders := p.Folders
	if len(folders) == 0 {
		folders = filepath.SplitList(os.Getenv("PATH"))
	}
	for _, folder := range folders {
		if filepath.IsAbs(folder) && p.lacking(folder) == "" {
			return folder, nil
		}
	}
	missing := p.Missing
	return "", &missing
}

func wrongFolder(s system.Settings, why string) error {
	return strict.Violations{s.Wrong(SetPrograms, fmt.Sprintf("%s %s: name the folder with the "+
		"servers' programs, or leave it out", s.Text(SetPrograms), why))}.Err()
}

// lacking returns the first program that a folder lacks, or "".
func (p Programs) lacking(folder string) string {
	for _, name := range p.Names {
		if FindProgram(filepath.Join(folder, name)) == "" {
			return name
		}
	}
	return ""
}
