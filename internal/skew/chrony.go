package skew

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Chrony is what chrony says of this machine's wall clock. It is evidence beside the bound, and no
// figure depends on it.
type Chrony struct {
	// Synchronised: it follows a source beyond this machine.
	Synchronised bool
	Stratum      int
	// BehindNs is by how much the clock is behind chrony's estimate of the time; BoundNs is how far
	// that estimate is from the time at most: root dispersion and half of root delay.
	BehindNs, BoundNs int64
}

const (
	chronyLimit = time.Second
	chronyBytes = 4 << 10
	// chronyMost bounds what chrony may say in seconds, so that nanoseconds have room.
	chronyMost     = 1e9
	stratumMost    = 16
	chronyFields   = 14
	localReference = "7F7F0101" // 127.127.1.1: the machine's own clock
)

// AskChrony asks the chrony of this machine, for a second at most. It returns nil where there is
// none, it does not answer, or it says what this package does not understand.
func AskChrony(ctx context.Context) *Chrony {
	ctx, cancel := context.WithTimeout(ctx, chronyLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chronyc", "-n", "-c", "tracking")
	cmd.Env = []string{"LC_ALL=C"} // this process's own may have secrets
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(out, chronyBytes))
	cancelled := ctx.Err() != nil
	_ = out.Close()
	if cmd.Wait() != nil || cancelled {
		return nil
	}
	c, err := parseChrony(string(text))
	if err != nil {
		return nil
	}
	return c
}

// parseChrony reads what chronyc -c tracking prints: a line of comma-separated values.
func parseChrony(text string) (*Chrony, error) {
	read := csv.NewReader(strings.NewReader(text))
	read.FieldsPerRecord = chronyFields
	fields, err := read.Read()
	if err != nil {
		return nil, fmt.Errorf("read chronyc's output: %w", err)
	}
	// Reference, its name, stratum, time of reference, offset of the clock, last offset, RMS
	// offset, frequency, residual frequency, skew, root delay, root dispersion, interval, leap
	// status.
	stratum, err := strconv.Atoi(fields[2])
	if err != nil || stratum < 0 || stratum > stratumMost {
		return nil, errors.New("chronyc reports an impossible stratum")
	}
	behind, err := seconds(fields[4], -chronyMost)
	if err != nil {
		return nil, err
	}
	delay, err := seconds(fields[10], 0)
	if err != nil {
		return nil, err
	}
	dispersion, err := seconds(fields[11], 0)
	if err != nil {
		return nil, err
	}
	leap := fields[13]
	return &Chrony{
		Synchronised: stratum > 0 && stratum < stratumMost && fields[0] != localReference &&
			(leap == "Normal" || leap == "Insert second" || leap == "Delete second"),
		Stratum: stratum, BehindNs: behind, BoundNs: dispersion + delay/2,
	}, nil
}

// seconds reads a number of seconds that is not below the least, and returns nanoseconds.
func seconds(text string, least float64) (ns int64, err error) {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(s) || s < least || s > chronyMost {
		return 0, errors.New("chronyc reports an impossible time")
	}
	return int64(math.Round(s * 1e9)), nil
}

// Check returns an error for what no chrony says. A worker's word is checked before it is kept.
func (c *Chrony) Check() error {
	const most = 2 * chronyMost * 1e9
	if c != nil && (c.Stratum < 0 || c.Stratum > stratumMost || c.BoundNs < 0 ||
		c.BoundNs > most || c.BehindNs > most || c.BehindNs < -most) {
		return errors.New("its report about chrony is impossible")
	}
	return nil
}
