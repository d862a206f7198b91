package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

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

// folders sets the folders that requests continue. Without a directory each request continues its
// newest folder, or starts a new one if there is none.
func (r *resumeFlag) folders(requests int, find func(i int) (dir string, err error),
	set func(i int, dir string)) error {
	switch {
	case !r.given:
		return nil
	case r.dir != "" && requests > 1:
		return fmt.Errorf("--resume %s continues one of %d requests: leave the folder out, or "+
			"name one target and one fault", r.dir, requests)
	}
	none := true
	for i := range requests {
		dir := r.dir
		if dir == "" {
			var err error
			if dir, err = find(i); err != nil {
				return err
			}
		}
		set(i, dir)
		none = none && dir == ""
	}
	if none {
		return errors.New("--resume: nothing of this command can be continued: leave the flag out")
	}
	return nil
}
