package system

import (
	"fmt"
	"strings"
)

// Missing is the error of servers that need software which this machine lacks.
type Missing struct {
	Software string   // as in "this machine lacks Java"
	Packages []string // Debian's and Ubuntu's packages of it
}

func (m *Missing) Error() string {
	packages := "package " + strings.Join(m.Packages, "")
	if len(m.Packages) > 1 {
		packages = "packages " + strings.Join(m.Packages, " and ")
	}
	return fmt.Sprintf("this machine lacks %s: install the %s (Debian, Ubuntu), or give the "+
		"target the endpoints of running servers", m.Software, packages)
}

// SoftwareFinder is a Provisioner whose servers need software on this machine, such as a package
// of the distribution.
type SoftwareFinder interface {
	// FindSoftware returns an error that wraps a *Missing when this machine lacks software
	// that Provision, or Fetch before it, needs. It starts no server and downloads nothing.
	FindSoftware(s Settings) error
}

// FindSoftware returns the error of a system's SoftwareFinder, or nil if it has none.
func FindSoftware(of System, s Settings) error {
	if finder, needs := of.(SoftwareFinder); needs {
		return finder.FindSoftware(s)
	}
	return nil
}
