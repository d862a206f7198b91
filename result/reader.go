package result

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"syscall"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// maxLine bounds a line of a run's files. A histogram line has at most about 300 KB, so
// plimsoll did not write a longer line.
const maxLine = 1 << 20

// Saved is a run directory that was read.
type Saved struct {
	Dir       string
	Run       Run
	Intervals []Interval
	Events    []Event
	Resources []Resources
	// Latency holds the histograms of each interval, in the order written.
	Latency []IntervalLatency
	// Damage has a sentence for each thing that could not be read.
	Damage []string
	// Price is what the run cost at given prices; nil: none were given. The directory has none.
	Price *Price
}

// IntervalLatency is one series over one interval.
type IntervalLatency struct {
	Series    Series
	Warmup    bool // of messages due before the measured window
	StartNs   int64
	EndNs     int64
	Histogram Buckets
}

// Read reads a run directory. Only a missing or unreadable run.json is an error. Damage names
// torn or foreign lines in the other files; the lines before and after them are kept. A file that
// holds more than a run of its length can have is read up to there (bounds.go).
func Read(dir string) (*Saved, error) {
	s := &Saved{Dir: dir}
	written, err := readRun(dir, &s.Run)
	if err != nil {
		return nil, err
	}
	b := s.Run.bounds()
	s.readLines(intervalsFile, b.lines(b.intervals, appendTo(&s.Intervals)))
	s.readLines(eventsFile, b.lines(maxEvents, appendTo(&s.Events)))
	s.readResources(b)
	s.readLines(latencyFile, b.logged(s.readHistogram(b)))
	if s.Run.State == Running {
		if !written {
			s.markIncomplete()
		}
		s.summarizeFromIntervals()
	}
	return s, nil
}

// ReadHead reads only run.json, which is enough for a list of many runs. Verdicts and figures are
// the saved ones, and a run that is still running has none.
func ReadHead(dir string) (*Run, error) {
	r := new(Run)
	written, err := readRun(dir, r)
	if err != nil {
		return nil, err
	}
	if r.State == Running && !written {
		r.State = Incomplete
	}
	return r, nil
}

// notARun returns the error for a path without a run.json, which says what is there.
func notARun(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s does not exist: check the path", dir)
	}
	if inside, err := filepath.Glob(filepath.Join(dir, "*", RunFile)); err == nil && inside != nil {
		return fmt.Errorf("%s is a folder of runs: name those that are meant, such as %s", dir,
			filepath.Dir(inside[len(inside)-1]))
	}
	return fmt.Errorf("%s is not a run directory: it has no %s", dir, RunFile)
}

// readRun reads run.json, and reports whether a process was writing the run.
func readRun(dir string, r *Run) (written bool, err error) {
	// Check before reading run.json: a run that ends in between has written its final state by
	// then.
	written = beingWritten(dir)
	raw, err := readWhole(filepath.Join(dir, RunFile))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return false, notARun(dir)
		}
		return false, unreadable(filepath.Join(dir, RunFile), err)
	}
	if err := json.Unmarshal(raw, r); err != nil {
		return false, damaged(filepath.Join(dir, RunFile), err)
	}
	if r.SchemaVersion < 1 {
		return false, fmt.Errorf("%s is not a run directory: its %s has no schema version", dir,
			RunFile)
	}
	if err := cmp.Or(CheckNumbers(r), r.checkCounts()); err != nil {
		return false, fmt.Errorf("%s is not a file that plimsoll wrote: %w",
			filepath.Join(dir, RunFile), err)
	}
	if r.SchemaVersion > SchemaVersion {
		return false, fmt.Errorf(
			"run %s has schema version %d, this plimsoll reads 1 to %d: use a newer plimsoll",
			dir, r.SchemaVersion, SchemaVersion)
	}
	return written, nil
}

// readResources reads resources.jsonl, which runs of an earlier plimsoll lack.
func (s *Saved) readResources(b *bounds) {
	if _, err := os.Stat(filepath.Join(s.Dir, resourcesFile)); errors.Is(err, os.ErrNotExist) {
		return
	}
	s.readLines(resourcesFile, b.lines(b.intervals, appendTo(&s.Resources)))
}

// appendTo returns a function that parses a line of JSON, appends the value, and returns the
// memory that the value takes.
func appendTo[T any](all *[]T) func(line []byte) (int64, error) {
	return func(line []byte) (int64, error) {
		var one T
		err := json.Unmarshal(line, &one)
		if err = cmp.Or(err, CheckNumbers(one)); err != nil {
			return 0, err
		}
		*all = append(*all, one)
		return memoryOf(reflect.ValueOf(&one)), nil
	}
}

// Bounds of a JSON file that is read as a whole, as run.json of some tens of kilobytes and the plan
// of a thousand cells of some megabytes. A value takes some hundred bytes of memory.
const (
	maxWhole       = 16 << 20
	maxWholeValues = 150_000
)

// readWhole reads a regular file within the bounds.
func readWhole(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxWhole {
		return nil, errors.New("it is not a file that plimsoll wrote")
	}
	raw, err := os.ReadFile(path)
	if err == nil && bytes.Count(raw, []byte(",")) > maxWholeValues {
		return nil, errors.New("it has more values than plimsoll writes")
	}
	return raw, err
}

// readLines passes the whole lines of a file to parse and notes the lines that fail.
func (s *Saved) readLines(name string, parse func([]byte) error) {
	path := filepath.Join(s.Dir, name)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		s.Damage = append(s.Damage, name+" is not a file")
		return
	}
	f, err := os.Open(path)
	if err != nil {
		s.Damage = append(s.Damage, fmt.Sprintf("%s cannot be read: %v", name, err))
		return
	}
	defer f.Close()
	in := bufio.NewReaderSize(io.LimitReader(f, maxFile), 64<<10)
	bad, size := 0, 0
	var line []byte
	for number := 1; ; number++ {
		var err error
		line, err = readLine(in, line[:0])
		size += len(line) + 1
		if errors.Is(err, io.EOF) {
			if size > maxFile {
				s.Damage = append(s.Damage, fmt.Sprintf(
					"%s is larger than a run's file can be: it was read up to line %d", name,
					number-1))
			} else if len(line) > 0 {
				s.Damage = append(s.Damage,
					fmt.Sprintf("%s ends in the middle of line %d", name, number))
			}
			break
		}
		if err != nil {
			s.Damage = append(s.Damage,
				fmt.Sprintf("%s cannot be read from line %d on: %v", name, number, err))
			break
		}
		err = parse(line)
		if errors.Is(err, errTooMuch) {
			s.Damage = append(s.Damage, fmt.Sprintf(
				"%s holds more than a run of its length can have: it was read up to line %d", name,
				number-1))
			break
		}
		if err != nil {
			if bad == 0 {
				s.Damage = append(s.Damage,
					fmt.Sprintf("%s holds something else at line %d", name, number))
			}
			bad++
		}
	}
	if bad > 1 {
		s.Damage = append(s.Damage, fmt.Sprintf("%s holds %d unreadable lines in all", name, bad))
	}
}

// readLine appends a line without its end to line, which is empty. io.EOF comes with the rest after
// the last line end.
func readLine(in *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line is longer than %d bytes", maxLine)
		}
		if err == nil {
			return line[:len(line)-1], nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// readHistogram returns a function that adds the histogram of a line of latency.hlog.
func (s *Saved) readHistogram(b *bounds) func(line []byte) (int64, error) {
	return func(line []byte) (int64, error) {
		l, err := parseHistogram(line, nil)
		if l == nil || err != nil {
			return 0, err
		}
		q := l.Histogram.(*squeezed)
		if b.inflated += q.inflated; b.inflated > maxInflated {
			return 0, errTooMuch
		}
		q.raw = b.store.keep(q.raw)
		s.Latency = append(s.Latency, *l)
		return int64(len(q.raw)) + histogramBytes, nil
	}
}

// parseHistogram parses a line of the HdrHistogram log format 1.3:
// Tag=name,start s,length s,max,payload. It returns nil for a line of the head, and for one
// that is not wanted. Everything is wanted when wanted is nil.
func parseHistogram(
	line []byte, wanted func(series Series, warmup bool) bool,
) (*IntervalLatency, error) {
	if len(line) == 0 || line[0] == '#' || line[0] == '"' {
		return nil, nil
	}
	fields := bytes.SplitN(line, []byte(","), 5)
	tag, tagged := bytes.CutPrefix(fields[0], []byte("Tag="))
	if len(fields) != 5 || !tagged {
		return nil, errors.New("not a tagged histogram line")
	}
	series, warmup := seriesOf(tag)
	if wanted != nil && !wanted(series, warmup) {
		return nil, nil
	}
	start, err := seconds(fields[1])
	if err != nil {
		return nil, err
	}
	length, err := seconds(fields[2])
	if err != nil {
		return nil, err
	}
	q, err := squeeze(fields[4])
	if err != nil {
		return nil, err
	}
	return &IntervalLatency{
		Series: series, Warmup: warmup,
		StartNs: int64(start * 1e9), EndNs: int64((start + length) * 1e9),
		Histogram: q,
	}, nil
}

// seconds reads a time of a histogram line.
func seconds(text []byte) (float64, error) {
	const most = 1e9
	s, err := strconv.ParseFloat(string(text), 64)
	if err == nil && !(s >= -most && s <= most) {
		err = errors.New("a time that no run has")
	}
	return s, err
}

// beingWritten reports whether a process holds the run's lock.
func beingWritten(dir string) bool {
	path := filepath.Join(dir, intervalsFile)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB),
		syscall.EWOULDBLOCK)
}

// Total returns the merged histograms of a series over the measured messages, or nil when there
// are none.
func (s *Saved) Total(series Series) *hdr.Histogram {
	var total *hdr.Histogram
	for _, l := range s.Latency {
		if l.Series != series || l.Warmup {
			continue
		}
		if total == nil {
			total = NewLike(l.Histogram)
		}
		l.Histogram.MergeInto(total)
	}
	return total
}

// Follower reads the files of a run directory that grow, each line once, while the run writes
// them. It holds no file open between calls. One goroutine at a time uses it.
type Follower struct {
	dir                string
	intervals, latency int64 // bytes of the whole lines that were read
}

// Follow returns a follower of a run directory, which reads it from the beginning.
func Follow(dir string) *Follower { return &Follower{dir: dir} }

// Intervals calls each with the intervals that were written since the last call.
func (f *Follower) Intervals(each func(Interval)) error {
	return f.read(intervalsFile, &f.intervals, func(line []byte) error {
		var i Interval
		err := json.Unmarshal(line, &i)
		if err == nil {
			each(i)
		}
		return err
	})
}

// Latency calls each with the wanted histograms that were written since the last call, all of
// them when wanted is nil. The others cost little: they are not decoded.
func (f *Follower) Latency(
	wanted func(series Series, warmup bool) bool, each func(IntervalLatency),
) error {
	return f.read(latencyFile, &f.latency, func(line []byte) error {
		l, err := parseHistogram(line, wanted)
		if l != nil {
			each(*l)
		}
		return err
	})
}

// read passes the whole lines behind an offset to parse, and moves the offset behind them. A
// line that cannot be parsed is passed over, and the first such error returned.
func (f *Follower) read(name string, offset *int64, parse func(line []byte) error) error {
	path := filepath.Join(f.dir, name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("follow %s: %w", name, err)
	case !info.Mode().IsRegular() || info.Size() < *offset:
		return fmt.Errorf("follow %s: it is not the file that was read before", name)
	case info.Size() == *offset:
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("follow %s: %w", name, err)
	}
	defer file.Close()
	if _, err := file.Seek(*offset, io.SeekStart); err != nil {
		return fmt.Errorf("follow %s: %w", name, err)
	}
	in := bufio.NewReaderSize(file, 64<<10)
	var first error
	var line []byte
	for {
		var err error
		line, err = readLine(in, line[:0])
		if errors.Is(err, io.EOF) {
			return first // the rest of a line may follow
		}
		if err != nil {
			return fmt.Errorf("follow %s: %w", name, err)
		}
		*offset += int64(len(line)) + 1
		if err := parse(line); err != nil && first == nil {
			first = fmt.Errorf("follow %s: a line that plimsoll did not write: %w", name, err)
		}
	}
}
