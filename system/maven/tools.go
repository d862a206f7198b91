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
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
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

// errNoJava and errNoMaven say which program is not on the PATH.
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

const (
	// dependencyPlugin is pinned, so that a new release cannot change the result.
	dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
	// maxReason bounds mvn's text in an error, in bytes.
	maxReason = 400
)

// runMaven runs mvn in the folder work, which copies the jars to dir.
func (a Artifacts) runMaven(ctx context.Context, mvn, work, dir string) error {
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), []byte(a.pom()), 0o644); err != nil {
		return fmt.Errorf("write the pom: %w", err)
	}
	return ask(ctx, mvn, work, []string{
		dependencyPlugin + ":copy-dependencies", "-DoutputDirectory=" + dir,
		"-DincludeScope=runtime",
	})
}

// ask runs mvn, which refuses a file that differs from its repository's checksum (-C). mvn
// remembers for a day that an artifact was not found. When it fails because of that, ask runs it
// again with -U, which makes it search again.
func ask(ctx context.Context, mvn, work string, goal []string) error {
	args := append([]string{"-B", "-q", "-C", "-Dstyle.color=never"}, goal...)
	output, err := once(ctx, mvn, work, args)
	cached := strings.Contains(output, "cached in the local repository")
	if err != nil && ctx.Err() == nil && cached {
		output, err = once(ctx, mvn, work, append(args, "-U"))
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("mvn was ended: %w", ctx.Err())
	}
	return fmt.Errorf("mvn failed: %s: correct the network, or the repositories in mvn's "+
		"settings.xml, and start again (%w)", reason(output), err)
}

// once runs mvn until it ends or ctx ends, and returns its output. mvn is a process of
// system/process, so that it ends with this process. It gets the user's whole environment,
// because settings.xml may refer to any variable.
func once(ctx context.Context, mvn, work string, args []string) (output string, err error) {
	log := filepath.Join(work, "mvn.log")
	if err := os.RemoveAll(log); err != nil {
		return "", err
	}
	p, err := process.Start(process.Spec{
		Name: "mvn", Path: mvn, Args: args, Env: os.Environ(), Dir: work, Log: log,
	})
	if err != nil {
		return "", err
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), p.Kill())
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		return "", err
	}
	return string(raw), p.Err()
}

// pom returns a project file that depends on the artifacts only.
func (a Artifacts) pom() string {
	var b strings.Builder
	b.WriteString(`<project xmlns="http://maven.apache.org/POM/4.0.0">` +
		`<modelVersion>4.0.0</modelVersion>
<groupId>plimsoll</groupId><artifactId>servers</artifactId><version>1</version>
<dependencies>
`)
	for _, c := range a.Coordinates {
		part := strings.Split(c, ":")
		fmt.Fprintf(&b, "<dependency><groupId>%s</groupId><artifactId>%s</artifactId>"+
			"<version>%s</version></dependency>\n", part[0], part[1], part[2])
	}
	b.WriteString("</dependencies></project>\n")
	return b.String()
}

var (
	color = regexp.MustCompile("\x1b\\[[0-9;]*m")
	// advice matches the general lines that mvn prints after each error.
	advice = regexp.MustCompile(`^(\[Help \d+\]|To see the full stack trace|Re-run Maven|` +
		`For more information|After correcting|-> \[Help)`)
)

// reason returns the last specific error in mvn's output, of at most maxReason bytes.
func reason(output string) string {
	last := "it printed no error"
	for line := range strings.Lines(color.ReplaceAllString(output, "")) {
		text, is := strings.CutPrefix(strings.TrimSpace(line), "[ERROR]")
		text = strings.TrimSpace(strings.Split(text, "-> [Help")[0])
		if is && text != "" && !advice.MatchString(text) {
			last = text
		}
	}
	if len(last) > maxReason {
		last = last[:maxReason] + "…"
	}
	return strings.ToValidUTF8(last, "")
}
