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
	// dependencyPlugin is pinned, so that a new release cannot change the result.
	dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
	// maxReason bounds mvn's text in an error, in bytes.
	maxReason = 400
)

// runMaven runs mvn in the folder work, which copies the jars to dir.
func (a Artifacts) runMaven(ctx context.Context, mvn, work, dir string) error {
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), []byte(a.pom()), 0o644); err != nil {
		return fmt.Errorf("writing the pom: %w", err)
	}
	return ask(ctx, mvn, work, []string{
		"-B", "-q", "-Dstyle.color=never", dependencyPlugin + ":copy-dependencies",
		"-DoutputDirectory=" + dir, "-DincludeScope=runtime",
	})
}

// ask runs mvn. mvn remembers for a day that an artifact was not found. When it fails because
// of that, ask runs it again with -U, which makes it search again.
func ask(ctx context.Context, mvn, work string, args []string) error {
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
// internal/process, so that it ends with this process. It gets the user's whole environment,
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
