package command

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fleet"
	"github.com/plimsoll-bench/plimsoll/internal/kubernetes"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// fleetCommand holds the commands for before and after a fleet's run.
type fleetCommand struct {
	Identity fleetIdentityCommand `cmd:"" help:"Print the identity of a coordinator to be started later, for --fleet-identity: a secret."`
	Token    fleetTokenCommand    `cmd:"" help:"Print the join token of an identity, for workers: a secret."`
	Manifest manifestCommand      `cmd:"" help:"Print what kubectl apply takes to run an experiment on a fleet in Kubernetes."`
	Pack     packCommand          `cmd:"" help:"Write a folder of run directories to standard output, as a compressed tar archive: for kubectl exec."`
}

type fleetIdentityCommand struct{}

// Run prints a new identity.
func (*fleetIdentityCommand) Run(con console) error {
	identity, err := fleet.NewIdentity()
	if err != nil {
		return err
	}
	text, err := identity.Text()
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(con.out, text)
	return err
}

type fleetTokenCommand struct {
	Identity string `arg:"" type:"path" help:"The file with the identity."`
}

// Run prints the join token of an identity.
func (c *fleetTokenCommand) Run(con console) error {
	identity, err := readIdentity(c.Identity)
	if err != nil {
		return inputError{err}
	}
	_, err = fmt.Fprintln(con.out, identity.Token().Text())
	return err
}

type packCommand struct {
	Dir string `arg:"" optional:"" default:"runs" type:"path" help:"The folder."`
}

// Run packs a folder.
func (c *packCommand) Run(con console) error {
	info, err := os.Stat(c.Dir)
	switch {
	case err != nil:
		return inputError{fmt.Errorf("%s does not exist: name a folder of runs", relative(c.Dir))}
	case !info.IsDir():
		return inputError{fmt.Errorf("%s is not a folder: name a folder of runs", relative(c.Dir))}
	}
	return kubernetes.Pack(con.out, c.Dir)
}

// readIdentity reads the file with a coordinator's identity, which only this user may read. A
// pod's files belong to another user and are readable by the pod's group.
func readIdentity(path string) (*fleet.Identity, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		refused := fs.FileMode(0o077)
		if !ownedByMe(info) {
			refused = 0o027
		}
		if info.Mode().Perm()&refused != 0 {
			return nil, fmt.Errorf("others may read the identity in %s: chmod 600 it, or make "+
				"another one", path)
		}
	}
	raw, err := strict.ReadFile(path)
	if err != nil {
		return nil, err
	}
	identity, err := fleet.ParseIdentity(raw, time.Now())
	if err != nil {
		return nil, fmt.Errorf("%s is not a coordinator's identity: %w", path, err)
	}
	return identity, nil
}

// ownedByMe reports whether a file belongs to this process's user.
func ownedByMe(info fs.FileInfo) bool {
	s, is := info.Sys().(*syscall.Stat_t)
	return !is || int(s.Uid) == os.Geteuid()
}
