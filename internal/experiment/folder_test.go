package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// saved is the content of the file of the tests' kind.
type saved struct {
	Record

	Cells []Cell `json:"cells"`
}

var kind = Kind[saved]{Name: "tested", Work: "test",
	Head: func(s *saved) *Record { return &s.Record },
	Check: func(s *saved) error {
		if len(s.Cells) > 2 {
			return errors.New("it has too many cells")
		}
		return nil
	}}

// began is the time of the tests' experiments.
var began = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

func create(t *testing.T, runs string, at time.Time) *Folder[saved] {
	t.Helper()
	f, err := kind.Create(runs, &saved{Record: Record{StartedAt: at}, Cells: []Cell{{}}}, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestFoldersAreNumberedLockedAndFound(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	first, second := create(t, runs, began), create(t, runs, began.Add(time.Millisecond))
	if filepath.Base(first.Dir()) != "2026-11-23T100000-a-b" ||
		filepath.Base(second.Dir()) != "2026-11-23T100000-a-b-2" ||
		second.Saved.ID != "2026-11-23T100000-a-b-2" {
		t.Errorf("%s, %s: %+v", first.Dir(), second.Dir(), second.Saved)
	}
	if _, err := kind.Open(first.Dir()); err == nil ||
		!strings.Contains(err.Error(), "under way in another process") {
		t.Errorf("a folder that is held: %v", err)
	}
	dir, err := kind.Newest(runs, "", func(*saved) bool { return true })
	if err != nil || dir != second.Dir() {
		t.Errorf("the newest is %s, %v", dir, err)
	}
	none, err := kind.Newest(runs, "", func(*saved) bool { return false })
	other, failed := kind.Newest(runs, "another command's", func(*saved) bool { return true })
	if err := errors.Join(err, failed); err != nil || none != "" || other != "" {
		t.Errorf("found %q, and of another command %q, %v", none, other, err)
	}
	if err := errors.Join(first.Discard(), second.Close()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(runs)
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// An experiment of version 1 can be read, and gets the current file format when it is resumed.
func TestVersion1IsReadAndResumed(t *testing.T) {
	for text, want := range map[string]result.State{
		`{"schema_version": 1, "state": "running", "pid": 99999999}`: result.Incomplete,
		`{"schema_version": 1, "ended_at": "2026-01-01T00:00:00Z"}`:  result.Complete,
		`{"schema_version": 1, "command": ["plimsoll", "sweep"]}`:    result.Incomplete,
	} {
		dir := t.TempDir()
		former := filepath.Join(dir, "tested.json")
		if err := os.WriteFile(former, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := kind.Read(dir)
		if err != nil || s.State != want || s.Dir != dir || !kind.Is(dir) {
			t.Fatalf("%s: %+v, %v", text, s, err)
		}
		if strings.Contains(text, "sweep") && (len(s.Asked.Command) != 2 || s.Command != nil) {
			t.Errorf("the command is %q and %q", s.Asked.Command, s.Command)
		}
		f, err := kind.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = kind.Read(dir); err != nil || s.State != want {
			t.Errorf("opened, and perhaps refused: %+v, %v", s, err)
		}
		if err := f.begin(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(former); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file of version 1: %v", err)
		}
		if s, err = kind.Read(dir); err != nil || s.State != result.Running ||
			s.SchemaVersion != SchemaVersion || s.Kind != "tested" {
			t.Errorf("%+v, %v", s, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "it ends too early",
		"{":                                "it ends too early",
		"[]":                               "is a JSON array and not an object",
		`{"kind": "other"}`:                "is not a test's folder",
		`{"kind": "tested"}`:               "schema version 0",
		`{"kind": "tested", "pid": "one"}`: "pid must not be a JSON string",
		`{"kind": "tested", "schema_version": 9}`: "use a newer plimsoll",
		`{"kind": "tested", "schema_version": 2, "cells": [{},{},{}]}`: "is damaged: it has too " +
			"many",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if s, err := kind.Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	dir := t.TempDir()
	for range 2 { // without a file, and with a folder of its name
		if s, err := kind.Read(dir); err == nil || kind.Is(dir) {
			t.Errorf("%+v", s)
		}
		if err := os.MkdirAll(filepath.Join(dir, File), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"..", "../other", "a/b", "."} {
		if CheckName(name) == nil {
			t.Errorf("%q is accepted as a run's name", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"kind": "tested", "schema_version": 2, "cells": [{"state": "done"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		if s, err := kind.Read(dir); err == nil && (s.SchemaVersion < 1 || s.Dir != dir) {
			t.Errorf("%+v", s)
		}
	})
}
