package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
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
