package systemtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// quickJava runs java with the first compiler only. A test's servers end before the code of
// the second one repays its compilation, which is a third of what such a cluster costs.
const quickJava = "#!/bin/sh\nexec '%s' -XX:TieredStopAtLevel=1 \"$@\"\n"

// QuickJava makes a folder below dir that serves as JAVA_HOME, with a java that starts sooner
// than this machine's and is the same otherwise. Where there is no java it returns "".
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

// useQuickJava has this program's servers run on QuickJava until the returned function runs.
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
