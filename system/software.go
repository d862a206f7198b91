package system

import (
	"fmt"
	"strings"
)

// Missing is the error of servers that need software which this machine lacks.
type Missing struct {
	Software string   // as in "this machine lacks Java"
	Packages []string // Debian's and Ubuntu's packages of it; none: no distribution has it
}

func (m *Missing) Error() string {
	what := "it"
	switch names := strings.Join(m.Packages, " and "); len(m.Packages) {
	case 0:
	case 1:
		what = "the package " + names + " (Debian, Ubuntu)"
	default:
		what = "the packages " + names + " (Debian, Ubuntu)"
	}
	return fmt.Sprintf("this machine lacks %s: install %s, or give the target the endpoints of "+
		"running servers", m.Software, what)
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
