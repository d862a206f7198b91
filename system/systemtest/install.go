package systemtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// installWithin bounds the download and installation of a package.
const installWithin = 5 * time.Minute

// installed are the packages that were tried, each once.
var installed sync.Map

// NeedPackage skips a test, by name, where find does not find the servers of a package of
// Debian's. Root's tests install the package first: the tests of a machine that is ours
// may install what they need, and the product never does.
func NeedPackage(t testing.TB, name string, find func() error) {
	t.Helper()
	if find() == nil {
		return
	}
	once, _ := installed.LoadOrStore(name, &sync.Once{})
	once.(*sync.Once).Do(func() { install(name) })
	if err := find(); err != nil {
		t.Skipf("%s needs the package %s: %v", t.Name(), name, err)
	}
}

// install takes a package from the distribution, where that can be done.
func install(name string) {
	if os.Geteuid() != 0 {
		return
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), installWithin)
	defer cancel()
	for _, arguments := range [][]string{
		{"update", "-q"}, {"install", "-q", "-y", "--no-install-recommends", name},
	} {
		command := exec.CommandContext(ctx, apt, arguments...)
		command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
		if said, err := command.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "installing %s: apt-get %s: %v: %s\n",
				name, arguments[0], err, said[max(0, len(said)-300):])
		}
	}
}
