package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// File is the name of an experiment's file within its folder.
const File = "experiment.json"

// SchemaVersion is the version of the format that this plimsoll writes. In version 1 the file
// was named after the kind, such as sweep.json.
const SchemaVersion = 2

// The names of the kinds, in their files.
const (
	Peak   = "peak"
	Sweep  = "sweep"
	Study  = "study"
	Verify = "verify"
)

// Names are the names of all kinds.
var Names = []string{Peak, Sweep, Study, Verify}

// Record is the common part of the files of all experiments. The type of a kind's file embeds it.
type Record struct {
	SchemaVersion int          `json:"schema_version"`
	Kind          string       `json:"kind"`
	ID            string       `json:"id"`   // the folder's name
	Name          string       `json:"name"` // of the target, the workload or the study
	State         result.State `json:"state"`
	StateReason   string       `json:"state_reason,omitempty"`
	StartedAt     time.Time    `json:"started_at"`
	EndedAt       time.Time    `json:"ended_at,omitzero"`
	PID           int          `json:"pid"`

	Plimsoll result.Build `json:"plimsoll"`
	Asked    result.Asked `json:"asked"`
	// Resolved is the input of searches and verifications, with every default filled in; empty in
	// version 1.
	Resolved result.Resolved `json:"resolved,omitzero"`

	// Command is the command line of sweeps and studies in version 1. Readers find it in Asked.
	Command []string `json:"command,omitempty"`

	Dir string `json:"-"`
}

// begin records that this process works on the experiment from now on.
func (r *Record) begin() {
	r.State, r.StateReason, r.EndedAt, r.PID = result.Running, "", time.Time{}, os.Getpid()
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

// read completes a record that was read from a file.
func (r *Record) read(dir, kind, work string) {
	r.Dir, r.Kind = dir, kind
	if r.Command != nil {
		r.Asked.Command, r.Command = r.Command, nil
	}
	if r.State == "" { // sweeps and studies in version 1
		r.State = result.Incomplete
		if !r.EndedAt.IsZero() {
			r.State = result.Complete
		}
	}
	if r.State == result.Running && !result.Lives(r.PID) {
		r.State = result.Incomplete
		r.StateReason = "the " + work + "'s process ended without finishing"
	}
}

// decode reads a file into a value, which has the record. It refuses a schema version that this
// plimsoll does not know.
func decode(path string, into any, r *Record) error {
	err := result.ReadDocument(filepath.Dir(path), filepath.Base(path), "an experiment", into)
	if err != nil {
		return err
	}
	if r.SchemaVersion < 1 || r.SchemaVersion > SchemaVersion {
		return fmt.Errorf(
			"%s has schema version %d, this plimsoll reads 1 to %d: use a newer plimsoll",
			path, r.SchemaVersion, SchemaVersion)
	}
	return nil
}

// CheckName refuses a run's name that leads out of the folder. An empty name is allowed.
func CheckName(name string) error {
	if name != "" && (filepath.Base(name) != name || name == ".." || name == ".") {
		return errors.New("it names a run outside the folder")
	}
	return nil
}

// mostRuns is more than an experiment makes; a sweep has at most a thousand cells.
const mostRuns = 5_000

// CheckCount refuses more runs than an experiment makes.
func CheckCount(n int) error {
	if n > mostRuns {
		return fmt.Errorf("it has %d runs, and an experiment makes at most %d", n, mostRuns)
	}
	return nil
}

// HeadFile returns the file that makes a folder an experiment's, or nil if there is none.
func HeadFile(dir string) fs.FileInfo {
	files := []string{File}
	for _, kind := range Names {
		files = append(files, kind+".json") // of version 1
	}
	for _, file := range files {
		if info, err := os.Lstat(filepath.Join(dir, file)); err == nil && !info.IsDir() {
			return info
		}
	}
	return nil
}

// fileOf returns the path of the file of a kind in a folder; "" when the folder has none.
func fileOf(dir, kind string) string {
	var head struct{ Kind string }
	if result.ReadDocument(dir, File, "an experiment", &head) == nil {
		if head.Kind != kind {
			return ""
		}
		return filepath.Join(dir, File)
	}
	former := filepath.Join(dir, kind+".json")
	if info, err := os.Stat(former); err == nil && info.Mode().IsRegular() {
		return former
	}
	return ""
}

// Damaged returns an error if a folder has an experiment's file that no reader can take for one.
func Damaged(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, File)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var head struct{ Kind string }
	err := result.ReadDocument(dir, File, "an experiment", &head)
	if err == nil && head.Kind == "" {
		err = fmt.Errorf("%s is damaged, it names no kind: restore it from a copy, or remove it",
			filepath.Join(dir, File))
	}
	return err
}

// hidden reports whether an entry of a folder for runs is hidden from readers.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// taken reports whether an error of os.Rename means that the new name is in use.
func taken(err error) bool {
	return errors.Is(err, os.ErrExist) || errors.Is(err, syscall.ENOTDIR)
}
