package maven

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/process"
)

const (
	// dependencyPlugin is pinned so that a new release of it changes nothing.
	dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
	// maxReason bounds what of mvn's own words goes into an error, in bytes.
	maxReason = 400
)

// runMaven has mvn, working in one folder, copy the jars into the other. mvn remembers for a day that an
// artifact was not found; when it fails for such a memory it is asked once more
// to look again.
func (a Artifacts) runMaven(ctx context.Context, mvn, work, dir string) error {
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), []byte(a.pom()), 0o644); err != nil {
		return fmt.Errorf("writing the pom: %w", err)
	}
	return ask(ctx, mvn, work, []string{
		"-B", "-q", "-Dstyle.color=never", dependencyPlugin + ":copy-dependencies",
		"-DoutputDirectory=" + dir, "-DincludeScope=runtime",
	})
}

// ask runs mvn, and once more when it failed because it remembers that an
// artifact was not found.
func ask(ctx context.Context, mvn, work string, args []string) error {
	said, err := once(ctx, mvn, work, args)
	if err != nil && ctx.Err() == nil && strings.Contains(said, "cached in the local repository") {
		said, err = once(ctx, mvn, work, append(args, "-U"))
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("mvn was ended: %w", ctx.Err())
	}
	return fmt.Errorf("mvn failed: %s: correct the network, or the repositories in mvn's settings.xml, and start again (%w)", reason(said), err)
}

// once runs mvn to its end, or to that of ctx, and returns what it said. It is
// run as a server is, so that it ends when this process does. It gets the
// user's whole environment: settings.xml may refer to any of it.
func once(ctx context.Context, mvn, work string, args []string) (said string, err error) {
	log := filepath.Join(work, "mvn.log")
	if err := os.RemoveAll(log); err != nil {
		return "", err
	}
	p, err := process.Start(process.Spec{Name: "mvn", Path: mvn, Args: args, Env: os.Environ(), Dir: work, Log: log})
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

// pom asks for the artifacts and nothing else.
func (a Artifacts) pom() string {
	var b strings.Builder
	b.WriteString(`<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>plimsoll</groupId><artifactId>servers</artifactId><version>1</version>
<dependencies>
`)
	for _, c := range a.Coordinates {
		part := strings.Split(c, ":")
		fmt.Fprintf(&b, "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>\n", part[0], part[1], part[2])
	}
	b.WriteString("</dependencies></project>\n")
	return b.String()
}

var (
	color = regexp.MustCompile("\x1b\\[[0-9;]*m")
	// advice is what mvn prints after each error, whatever it is.
	advice = regexp.MustCompile(`^(\[Help \d+\]|To see the full stack trace|Re-run Maven|For more information|After correcting|-> \[Help)`)
)

// reason is the last of mvn's errors that says something, bounded.
func reason(said string) string {
	last := "it did not say why"
	for line := range strings.Lines(color.ReplaceAllString(said, "")) {
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
