package folder

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Record is what the files of all searches and verifications begin with. The type of such a
// file embeds it.
type Record struct {
	SchemaVersion int          `json:"schema_version"`
	ID            string       `json:"id"`
	Name          string       `json:"name"` // the target's
	State         result.State `json:"state"`
	StateReason   string       `json:"state_reason,omitempty"`
	StartedAt     time.Time    `json:"started_at"`
	EndedAt       time.Time    `json:"ended_at,omitzero"`
	PID           int          `json:"pid"`

	Plimsoll result.Build `json:"plimsoll"`
	Asked    result.Asked `json:"asked"`

	Dir string `json:"-"`
}

// Document describes a kind of file that begins with a Record, such as peak.json.
type Document struct {
	File   string // its name
	Work   string // the work that it records: search
	Newest int    // the schema version that this plimsoll writes
}

// Begin makes a folder below runs, named by the time and the words, for work that this
// process begins now. It returns the work's record, which the caller saves.
func (d *Document) Begin(
	runs, target string, build result.Build, asked result.Asked, words ...string,
) (Record, error) {
	now := time.Now().UTC()
	dir, err := result.NewFolder(runs, now, words...)
	return Record{
		SchemaVersion: d.Newest, ID: filepath.Base(dir), Name: target, State: result.Running,
		StartedAt: now, PID: os.Getpid(), Plimsoll: build, Asked: asked, Dir: dir,
	}, err
}

// Finish records how the work ended: interrupted when ctx is cancelled, failed with an error.
func (r *Record) Finish(ctx context.Context, err error) {
	r.EndedAt = time.Now().UTC()
	switch {
	case ctx.Err() != nil:
		r.State, r.StateReason = result.Interrupted, "stopped on request"
	case err != nil:
		r.State, r.StateReason = result.Failed, err.Error()
	default:
		r.State = result.Complete
	}
}

// Is reports whether a directory holds such a file.
func (d *Document) Is(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, d.File))
	return err == nil && info.Mode().IsRegular()
}

// Save replaces the file in a folder as a whole.
func (d *Document) Save(dir string, content any) error {
	return save(filepath.Join(dir, d.File), content)
}

// Read reads the file in a folder into content, which holds the record r. Running work whose
// process has ended is incomplete.
func (d *Document) Read(dir string, content any, r *Record) error {
	if err := result.ReadDocument(dir, d.File, "a "+d.Work, content); err != nil {
		return err
	}
	if err := CheckVersion(filepath.Join(dir, d.File), r.SchemaVersion, d.Newest); err != nil {
		return err
	}
	r.Dir = dir
	if r.State == result.Running && !result.Lives(r.PID) {
		r.State = result.Incomplete
		r.StateReason = "the " + d.Work + "'s process ended without finishing"
	}
	return nil
}
