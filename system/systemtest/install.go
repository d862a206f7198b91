package systemtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/maven"
)

// installWithin bounds the download and installation of a package.
const installWithin = 5 * time.Minute

// installed holds the packages whose installation was tried.
var installed sync.Map

// NeedPackage skips a test, and names the package, if find does not find the servers of a Debian
// package. As root it installs the package first: tests may install what they need, the product
// never does.
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

// NeedJava skips a test where servers on Java cannot be fetched or run.
func NeedJava(t testing.TB) {
	t.Helper()
	if err := maven.Available(); err != nil {
		t.Skipf("%s needs Java and Maven: %v", t.Name(), err)
	}
}

// install installs a package of the distribution, if possible.
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
