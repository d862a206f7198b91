package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
)

// resumeFlag is a flag that may have a value.
type resumeFlag struct {
	given bool
	dir   string
}

// IsBool lets the flag stand without a value.
func (*resumeFlag) IsBool() bool { return true }

// Decode takes the next word as the flag's value, unless it is another flag.
func (r *resumeFlag) Decode(ctx *kong.DecodeContext) error {
	r.given = true
	if next := ctx.Scan.Peek(); next.Type == kong.FlagValueToken || !next.IsEOL() &&
		!strings.HasPrefix(next.String(), "-") {
		return ctx.Scan.PopValueInto("directory", &r.dir)
	}
	return nil
}

// sayContinue prints the command that goes on with what a user interrupted. Without a folder it is
// the newest of the same command.
func sayContinue(ctx context.Context, con console, folder string) {
	if ctx.Err() != nil {
		fmt.Fprintln(con.err, "to continue:", continuation(os.Args, folder))
	}
}

// continuation returns the command line that continues what a command began: with the command's
// own words, so that the rest is measured at the same place and judged by the same conditions.
func continuation(command []string, folder string) string {
	words := []string{"plimsoll"}
	const flag = "--resume"
	for i := 1; i < len(command); i++ {
		switch word := command[i]; {
		case strings.HasPrefix(word, flag+"="):
		case word != flag:
			words = append(words, word)
		case i+1 < len(command) && !strings.HasPrefix(command[i+1], "-"):
			i++ // the flag's folder
		}
	}
	words = append(words, flag)
	if folder != "" {
		words = append(words, relative(folder))
	}
	return phrase.CommandLine(words)
}

// folders returns the folders that the jobs continue. Without a directory they continue what the
// newest command of such a job began: a job that it did not come to starts a new folder, and does
// not get the result of an older command. find returns the newest folder of a job, of a command's
// set or of any.
func (r *resumeFlag) folders(jobs []*bench.Job, find func(i int, set string) (dir string,
	err error)) ([]string, error) {
	dirs := make([]string, len(jobs))
	switch {
	case !r.given:
		return dirs, nil
	case r.dir != "" && len(jobs) > 1:
		return nil, fmt.Errorf("--resume %s continues one of %d requests: leave the folder out, "+
			"or name one target and one fault", r.dir, len(jobs))
	case r.dir != "":
		dirs[0] = r.dir
		return dirs, nil
	}
	set, err := newestSet(len(jobs), find)
	if err != nil {
		return nil, err
	}
	for i, job := range jobs {
		if dirs[i], err = find(i, set); err != nil {
			return nil, err
		}
		job.Asked.Set = cmp.Or(set, job.Asked.Set)
	}
	return dirs, nil
}

// newestSet returns the set of the command that began the newest folder of some requests; empty: an
// earlier plimsoll began it, which recorded none.
func newestSet(requests int, find func(i int, set string) (dir string, err error)) (set string,
	err error) {
	var newest time.Time
	for i := range requests {
		dir, err := find(i, "")
		if err != nil {
			return "", err
		}
		if dir == "" {
			continue
		}
		head, err := experiment.ReadHead(dir)
		if err != nil {
			return "", err
		}
		if head.StartedAt.After(newest) {
			set, newest = head.Asked.Set, head.StartedAt
		}
	}
	if newest.IsZero() {
		return "", errors.New("--resume: nothing of this command can be continued: leave the " +
			"flag out")
	}
	return set, nil
}
