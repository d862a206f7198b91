package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// binary is a package's tests, built with all its mutants.
type binary struct {
	name   string // of the package
	dir    string // of its sources, where its tests run
	folder string
	rapid  bool
	keys   []string // of its mutants
	tests  []test   // the quickest first
}

// test is a test that passes without a mutant.
type test struct {
	name    string
	took    time.Duration // of CPU
	reaches map[int]bool  // the mutants whose code it runs
}

func (b *binary) path() string { return filepath.Join(b.folder, "tests") }

const (
	// quick is how long tests may take that run in one process.
	quick = 100 * time.Millisecond
	// A mutant's test may take leastWait of CPU time, and longer if it takes that without a mutant;
	// and idleFactor times as long by the clock, for those that wait for ever.
	leastWait  = 5 * time.Second
	waitFactor = 10
	idleFactor = 6
	// confirmations is how often a listed survivor must be killed until that counts.
	confirmations = 3
)

// run runs tests by their names, with a mutant on; 0: none. It returns the CPU time spent.
func (b *binary) run(
	ctx context.Context, names []string, mutant int, reached string, wait time.Duration,
) (spent time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, idleFactor*wait)
	defer cancel()
	// A mutant that allocates without end must not take the machine's memory.
	limited := fmt.Sprintf(`ulimit -v 4194304; ulimit -t %.0f; exec "$0" "$@"`,
		math.Ceil(wait.Seconds()))
	cmd := exec.CommandContext(ctx, "sh", "-c", limited, b.path(), "-test.failfast",
		"-test.run", "^("+strings.Join(names, "|")+")$")
	if b.rapid {
		cmd.Args = append(cmd.Args, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=0s")
	}
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "MUTANT="+strconv.Itoa(mutant), "MUTANTS_REACHED="+reached)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && mutant == 0 {
		err = fmt.Errorf("%s fails without a mutant: %w\n%s", names, err, out)
	}
	if cmd.ProcessState != nil {
		spent = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return spent, err
}

// baseline runs each test without a mutant, and notes which mutants it reaches. Tests that need
// more CPU than longest are left out.
func (b *binary) baseline(ctx context.Context, longest time.Duration) (left []string, err error) {
	out, err := exec.CommandContext(ctx, b.path(), "-test.list", "^(Test|Fuzz|Example)").Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", b.name, err)
	}
	for _, name := range strings.Fields(string(out)) {
		reached := filepath.Join(b.folder, "reached")
		if err := os.WriteFile(reached, nil, 0o600); err != nil {
			return nil, err
		}
		began := time.Now()
		spent, err := b.run(ctx, []string{name}, 0, reached, waitFactor*longest)
		if spent > longest || time.Since(began) > idleFactor*waitFactor*longest {
			left = append(left, name)
			continue
		}
		if err != nil {
			return nil, err
		}
		t := test{name: name, took: spent, reaches: make(map[int]bool)}
		noted, err := os.ReadFile(reached)
		if err != nil {
			return nil, err
		}
		for _, id := range strings.Fields(string(noted)) {
			n, _ := strconv.Atoi(id) // as mutantOn wrote it
			t.reaches[n] = true
		}
		b.tests = append(b.tests, t)
	}
	slices.SortStableFunc(b.tests, func(x, y test) int { return int(x.took - y.took) })
	return left, nil
}

// kills reports whether a test fails with a mutant, and whether any reaches it. A mutant that makes
// a test endless is killed.
func (b *binary) kills(ctx context.Context, mutant, times int) (killed, reached bool) {
	var groups [][]string
	var waits []time.Duration
	for _, t := range b.tests {
		if !t.reaches[mutant] {
			continue
		}
		if len(groups) == 0 || t.took > quick {
			groups, waits = append(groups, nil), append(waits, leastWait)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], t.name)
		waits[last] += waitFactor * t.took
	}
	for i, names := range groups {
		failures := 0
		for failures < times {
			if _, err := b.run(ctx, names, mutant, "", waits[i]); err == nil {
				break
			}
			failures++
		}
		if failures == times && ctx.Err() == nil {
			return true, true
		}
	}
	return false, len(groups) > 0
}

// outcome is what became of a package's mutants.
type outcome struct {
	mutants, unreached int
	survivors, killed  []string // keys
}

// try runs the tests for each of some mutants, some at a time.
func (b *binary) try(ctx context.Context, ids []int, jobs int, listed map[string]bool) (
	o outcome, err error) {
	type tried struct {
		id              int
		killed, reached bool
	}
	todo, done := make(chan int), make(chan tried)
	for range jobs {
		go func() {
			for id := range todo {
				times := 1
				if listed[b.keys[id-1]] {
					times = confirmations
				}
				killed, reached := b.kills(ctx, id, times)
				done <- tried{id, killed, reached}
			}
		}()
	}
	go func() {
		defer close(todo)
		for _, id := range ids {
			todo <- id
		}
	}()
	for range ids {
		t := <-done
		o.mutants++
		if t.killed {
			o.killed = append(o.killed, b.keys[t.id-1])
			continue
		}
		o.survivors = append(o.survivors, b.keys[t.id-1])
		if !t.reached {
			o.unreached++
		}
	}
	if ctx.Err() != nil {
		return o, errors.New("stopped")
	}
	slices.Sort(o.survivors)
	return o, nil
}
