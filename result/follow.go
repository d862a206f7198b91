package result

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

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
	for {
		line, err := readLine(in)
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
