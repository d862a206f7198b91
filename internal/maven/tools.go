package maven

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	// leastJava is the oldest Java that the servers run on.
	leastJava = 17
	javaLimit = 10 * time.Second
)

// The packages of Debian and Ubuntu.
const (
	javaPackage  = "default-jre-headless"
	mavenPackage = "maven"
)

// errNoJava and errNoMaven say what is not on the PATH.
var (
	errNoJava = &system.Missing{
		Software: fmt.Sprintf("Java %d or newer", leastJava), Packages: []string{javaPackage}}
	errNoMaven = &system.Missing{
		Software: "Maven, which fetches the servers", Packages: []string{mavenPackage}}
	errNeither = &system.Missing{
		Software: fmt.Sprintf("Java %d or newer and Maven", leastJava),
		Packages: []string{javaPackage, mavenPackage}}
)

// Java returns the path of a java that is new enough, or an error that says how to get one.
// It searches only once.
var Java = sync.OnceValues(findJava)

// Available returns an error when this machine lacks mvn or a new enough java: a
// *system.Missing that names all that is missing.
func Available() error {
	_, javaErr := Java()
	_, mvnErr := findMaven()
	var missing *system.Missing
	switch {
	case errors.As(javaErr, &missing) && mvnErr != nil:
		return errNeither
	case javaErr != nil:
		return javaErr
	}
	return mvnErr
}

func findMaven() (string, error) {
	path, err := exec.LookPath("mvn")
	if err != nil {
		return "", errNoMaven
	}
	return path, nil
}

// findJava looks at JAVA_HOME first, as mvn does, and then on the PATH.
func findJava() (string, error) {
	path, err := javaPath()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), javaLimit)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s -version fails (%w): install another Java %d or newer, or set "+
			"JAVA_HOME to it", path, err, leastJava)
	}
	if major := javaMajor(string(output)); major > 0 && major < leastJava {
		return "", &system.Missing{Packages: []string{javaPackage},
			Software: fmt.Sprintf("Java %d or newer (%s is Java %d, and JAVA_HOME may name "+
				"another)", leastJava, path, major)}
	}
	return path, nil
}

func javaPath() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		path := filepath.Join(home, "bin", "java")
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("JAVA_HOME is %s, which has no bin/java: correct it, "+
				"or unset it to use the java on the PATH", home)
		}
		return path, nil
	}
	path, err := exec.LookPath("java")
	if err != nil {
		return "", errNoJava
	}
	return path, nil
}

var javaVersion = regexp.MustCompile(`version "(?:1\.)?(\d+)`)

// javaMajor reads 17 from version "17.0.15", and 8 from "1.8.0_392". It returns 0 for other
// texts.
func javaMajor(output string) int {
	m := javaVersion.FindStringSubmatch(output)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}
