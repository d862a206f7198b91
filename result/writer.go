package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The files of a run directory.
const (
	RunFile       = "run.json" // what marks a folder as a run directory
	intervalsFile = "intervals.jsonl"
	latencyFile   = "latency.hlog"
	eventsFile    = "events.jsonl"
	resourcesFile = "resources.jsonl"
	LogsDir       = "logs"   // servers' logs
	LatestLink    = "latest" // beside the run directories
	ReportFile    = "report.html"
)

// Writer writes one run directory. One goroutine at a time uses it. The goroutine does not wait
// for the disk: Writer writes the values as they are at the call, and a later call returns the
// error of a failure, Close at the latest. After a failed write, Writer returns the error once
// and writes nothing more.
type Writer struct {
	dir       string
	root      string
	intervals *os.File
	latency   *os.File
	events    *os.File
	resources *os.File
	logged    bytes.Buffer
	written   atomic.Int64 // bytes of intervals, histograms, events and resources
	queue     *queue       // nil until the directory is made, and when it is given up
	broken    bool
	latest    string // what the latest link pointed to before
	hlog      *logEncoder
}

// Create makes the directory of a run below root, with run.json in it, and points root/latest
// at it. The directory appears whole or not at all. When the ID is taken, Create adds a number
// to it and sets run.ID.
func Create(root string, run *Run) (*Writer, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, InFolder(root, "create the folder for runs", err)
	}
	work, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return nil, InFolder(root, "create a run directory", err)
	}
	w := &Writer{root: root, dir: work}
	if err := w.fill(run); err != nil {
		w.Discard()
		return nil, err
	}
	if err := w.place(run); err != nil {
		w.Discard()
		return nil, err
	}
	w.latest, _ = os.Readlink(filepath.Join(root, LatestLink))
	PointLatest(w.root, filepath.Base(w.dir))
	w.queue = newQueue()
	return w, nil
}

// fill makes the files of a new run in the working directory.
func (w *Writer) fill(run *Run) error {
	if err := os.Chmod(w.dir, 0o755); err != nil {
		return fmt.Errorf("create a run directory: %w", err)
	}
	if err := os.Mkdir(filepath.Join(w.dir, LogsDir), 0o755); err != nil {
		return fmt.Errorf("create a run directory: %w", err)
	}
	for _, f := range []struct {
		name string
		file **os.File
	}{{intervalsFile, &w.intervals}, {latencyFile, &w.latency}, {eventsFile, &w.events},
		{resourcesFile, &w.resources}} {
		file, err := os.OpenFile(filepath.Join(w.dir, f.name), os.O_CREATE|os.O_WRONLY|os.O_APPEND,
			0o644)
		if err != nil {
			return fmt.Errorf("create %s: %w", f.name, err)
		}
		*f.file = file
	}
	// The lock lasts as long as this process. Readers use it to tell whether a run in state
	// "running" still runs.
	if err := syscall.Flock(int(w.intervals.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("lock %s: %w", intervalsFile, err)
	}
	w.hlog = newLogEncoder(run.StartedAt.UnixMilli())
	head := hdr.NewHistogramLogWriter(&w.logged)
	if err := errors.Join(
		head.OutputComment("[Logged by plimsoll; values in nanoseconds]"),
		head.OutputLogFormatVersion(),
		head.OutputStartTime(run.StartedAt.UnixMilli()),
		head.OutputBaseTime(run.StartedAt.UnixMilli()),
		head.OutputLegend(),
	); err != nil {
		return failed(latencyFile, err)
	}
	if err := w.log(nil); err != nil {
		return err
	}
	return Save(w.dir, run)
}

// place renames the working directory to the run's name.
func (w *Writer) place(run *Run) error {
	id := run.ID
	for n := 2; n < 1000; n++ {
		final := filepath.Join(w.root, run.ID)
		err := os.Rename(w.dir, final)
		if err == nil {
			w.dir = final
			return nil
		}
		if !errors.Is(err, os.ErrExist) && !errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("create run directory %s: %w", run.ID, err)
		}
		run.ID = fmt.Sprintf("%s-%d", id, n)
		if err := Save(w.dir, run); err != nil {
			return err
		}
	}
	return fmt.Errorf("create run directory %s: the name is taken", id)
}

// PointLatest points the latest link of a folder of runs at one of them, by name. On a file
// system without links it does nothing, and neither where something else has the link's name.
func PointLatest(root, to string) {
	if !isLatest(filepath.Join(root, LatestLink)) {
		return
	}
	link := filepath.Join(root, fmt.Sprintf(".latest-%d", os.Getpid()))
	if err := os.Symlink(to, link); err != nil {
		return
	}
	if err := os.Rename(link, filepath.Join(root, LatestLink)); err != nil {
		_ = os.Remove(link)
	}
}

// isLatest reports whether nothing is at a path, or a link that PointLatest may have made: to a
// name beside it that is gone, or is a folder with a JSON file.
func isLatest(path string) bool {
	to, err := os.Readlink(path)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	if to != filepath.Base(to) {
		return false
	}
	to = filepath.Join(filepath.Dir(path), to)
	if _, err := os.Stat(to); err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	files, err := filepath.Glob(filepath.Join(to, "*.json"))
	return err == nil && len(files) > 0
}

// Dir is the run's directory.
func (w *Writer) Dir() string { return w.dir }

// Update replaces run.json as a whole.
func (w *Writer) Update(run *Run) error {
	raw, err := encode(RunFile, run)
	return w.later(err, func() error { return ReplaceFile(filepath.Join(w.dir, RunFile), raw) })
}

// later queues a write, unless its content could not be made.
func (w *Writer) later(err error, write func() error) error {
	if w.broken {
		return nil
	}
	if err == nil {
		err = w.queue.put(write)
	}
	w.broken = err != nil
	return err
}

// HeldUp returns the time for which the caller has waited for the disk, because the queue was
// full.
func (w *Writer) HeldUp() time.Duration { return w.queue.heldUp }

// Written returns the bytes that the files which grow have so far.
func (w *Writer) Written() int64 { return w.written.Load() }

// failed wraps an error of writing a file of the run.
func failed(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("write %s: %w: free some space, or choose another folder for runs", name,
			err)
	}
	return fmt.Errorf("write %s: %w", name, err)
}

// Save replaces the run.json of a run directory as a whole.
func Save(dir string, run *Run) error { return ReplaceDocument(filepath.Join(dir, RunFile), run) }

// ReplaceDocument is ReplaceFile with a value as JSON.
func ReplaceDocument(path string, value any) error {
	raw, err := encode(filepath.Base(path), value)
	if err != nil {
		return err
	}
	return ReplaceFile(path, raw)
}

func encode(name string, value any) ([]byte, error) {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return append(raw, '\n'), nil
}

// ReplaceFile writes a file so that a reader, or a crash, sees the old
// content or the new and nothing between.
func ReplaceFile(path string, content []byte) error {
	name := filepath.Base(path)
	f, err := os.CreateTemp(filepath.Dir(path), "."+name+"-")
	if err != nil {
		return failed(name, err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return failed(name, err)
	}
	return nil
}

// Interval appends an interval and its histograms.
func (w *Writer) Interval(i Interval, histograms []Logged) error {
	return errors.Join(w.later(nil, func() error { return w.log(histograms) }),
		w.appendLine(w.intervals, intervalsFile, i))
}

// log appends histograms to the log in one write, so that a kill leaves whole lines.
func (w *Writer) log(all []Logged) error {
	for _, h := range all {
		if err := w.hlog.line(&w.logged, h); err != nil {
			return failed(latencyFile, err)
		}
	}
	n, err := w.latency.Write(w.logged.Bytes())
	w.written.Add(int64(n))
	w.logged.Reset()
	if err != nil {
		return failed(latencyFile, err)
	}
	return nil
}

// Event appends an event.
func (w *Writer) Event(e Event) error { return w.appendLine(w.events, eventsFile, e) }

// Resources appends the resources used during an interval.
func (w *Writer) Resources(r Resources) error { return w.appendLine(w.resources, resourcesFile, r) }

func (w *Writer) appendLine(f *os.File, name string, value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		err = failed(name, err)
	}
	return w.later(err, func() error {
		n, err := f.Write(append(line, '\n'))
		w.written.Add(int64(n))
		if err != nil {
			return failed(name, err)
		}
		return nil
	})
}

// Close writes the final run.json and closes the directory.
func (w *Writer) Close(run *Run) error {
	err := w.writeOut()
	if w.broken || err != nil {
		// An earlier write may have failed for lack of space that is there now; its error was
		// returned.
		_ = Save(w.dir, run)
		return errors.Join(err, w.release())
	}
	return errors.Join(w.latency.Sync(), w.intervals.Sync(), Save(w.dir, run), w.release())
}

// writeOut waits for the queued writes and closes the queue.
func (w *Writer) writeOut() error {
	if w.queue == nil {
		return nil
	}
	err := w.queue.close()
	w.queue = nil
	return err
}

// release closes the open files, once.
func (w *Writer) release() error {
	errs := []error{w.writeOut()}
	for _, f := range []*os.File{w.intervals, w.latency, w.events, w.resources} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// Discard removes a run in which nothing was measured, and points the latest link at the
// earlier run again.
func (w *Writer) Discard() {
	_ = w.release()
	_ = os.RemoveAll(w.dir)
	latest := filepath.Join(w.root, LatestLink)
	if to, err := os.Readlink(latest); err != nil || to != filepath.Base(w.dir) {
		return
	}
	if w.latest != "" {
		PointLatest(w.root, w.latest)
		return
	}
	_ = os.Remove(latest)
}

var notInNames = regexp.MustCompile(`[^a-z0-9.]+`)

// NamePart returns a name in the form that folder names have.
func NamePart(name string) string {
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// Stamp returns a time in the form that folder names have.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T150405") }

// IsRun reports whether a directory is a run's.
func IsRun(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, RunFile))
	return err == nil && info.Mode().IsRegular()
}

// ReadDocument reads a JSON file of a directory. what names the kind of directory, for errors.
func ReadDocument(dir, file, what string, into any) error {
	path := filepath.Join(dir, file)
	raw, err := readWhole(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%s is not the folder of %s: it has no %s", dir, what, file)
	}
	if err != nil {
		return unreadable(path, err)
	}
	if err := cmp.Or(json.Unmarshal(raw, into), CheckNumbers(into)); err != nil {
		return damaged(path, err)
	}
	return nil
}

// Lives reports whether a process with this number exists. On a machine that runs for long it
// may be another process.
func Lives(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
