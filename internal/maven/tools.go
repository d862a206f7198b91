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
)

const (
	// leastJava is the oldest Java that the servers run on.
	leastJava = 17
	javaLimit = 10 * time.Second
)

var errNoJava = errors.New("java, which the servers run on, is not on the PATH")

// Java returns the path of a java that is new enough, or an error that says how to get one.
// It searches only once.
var Java = sync.OnceValues(findJava)

// Available returns an error when this machine lacks mvn or a new enough java. The error
// says how to get them.
func Available() error {
	_, javaErr := Java()
	_, mvnErr := findMaven()
	if javaErr != nil && mvnErr != nil && errors.Is(javaErr, errNoJava) {
		return fmt.Errorf("neither java nor mvn is on this machine: %s",
			install("Java 17 and Maven", "maven default-jre-headless"))
	}
	if javaErr != nil {
		return javaErr
	}
	return mvnErr
}

// install returns the instruction to install the missing packages.
func install(what, packages string) string {
	if _, err := exec.LookPath("apt-get"); err == nil {
		return "install what is missing with: apt-get install -y " + packages
	}
	return "install " + what + " with the system's package manager, and put them on the PATH"
}

func findMaven() (string, error) {
	path, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("mvn, which fetches the servers, is not on the PATH: %s",
			install("Maven", "maven default-jre-headless"))
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
		return "", fmt.Errorf("%s does not run (%w): %s",
			path, err, install("Java 17", "default-jre-headless"))
	}
	if major := javaMajor(string(output)); major > 0 && major < leastJava {
		return "", fmt.Errorf(
			"%s is Java %d, and the servers need %d or newer: %s, or set JAVA_HOME to it",
			path, major, leastJava, install("Java 17", "default-jre-headless"))
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
		return "", fmt.Errorf("%w: %s", errNoJava, install("Java 17", "default-jre-headless"))
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
