package systemtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// quickJava runs java with the first compiler only. A test's servers end before the second
// compiler's code repays its compilation, a third of such a cluster's cost.
const quickJava = "#!/bin/sh\nexec '%s' -XX:TieredStopAtLevel=1 \"$@\"\n"

// QuickJava creates a folder below dir for JAVA_HOME, with a java that starts faster than this
// machine's and is otherwise the same. Without java it returns "".
func QuickJava(dir string) (home string, err error) {
	java := filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java")
	if os.Getenv("JAVA_HOME") == "" {
		if java, err = exec.LookPath("java"); errors.Is(err, exec.ErrNotFound) {
			return "", nil
		} else if err != nil {
			return "", err
		}
	}
	home = filepath.Join(dir, "quick-java")
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o755); err != nil {
		return "", err
	}
	return home, os.WriteFile(filepath.Join(home, "bin", "java"), fmt.Appendf(nil, quickJava, java),
		0o755)
}

// useQuickJava makes this program's servers run on QuickJava until the returned function is
// called.
func useQuickJava() (remove func() error, err error) {
	dir, err := os.MkdirTemp("", "plimsoll-java-")
	if err != nil {
		return nil, err
	}
	home, err := QuickJava(dir)
	if err == nil && home != "" {
		err = os.Setenv("JAVA_HOME", home)
	}
	return func() error { return os.RemoveAll(dir) }, err
}
