// Command mutants changes the code of a package in small ways, one at a time, and runs the
// package's tests: a change that no test notices survives. The survivors are listed in a file,
// which may only shrink.
//
// All mutants of a package are built into one binary of its tests; the environment says which one
// is on. Tests run only for the mutants whose code they reach. Nothing in the source tree is
// written.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// survivors is a list of survivors, a line each: its key and, after a tab, a remark.
type survivors struct {
	path  string
	lines []string
}

const remark = "\t# "

func (s *survivors) keys() map[string]bool {
	keys := make(map[string]bool)
	for _, line := range s.lines {
		if key, _, _ := strings.Cut(line, remark); key != "" && !strings.HasPrefix(line, "#") {
			keys[key] = true
		}
	}
	return keys
}

// update removes keys from the list and adds others, in the order of keys after the head.
func (s *survivors) update(gone, fresh []string) error {
	s.lines = slices.DeleteFunc(s.lines, func(line string) bool {
		key, _, _ := strings.Cut(line, remark)
		return key == "" || slices.Contains(gone, key)
	})
	s.lines = append(s.lines, fresh...)
	head := slices.IndexFunc(s.lines, func(l string) bool { return !strings.HasPrefix(l, "#") })
	if head >= 0 {
		slices.Sort(s.lines[head:])
	}
	return os.WriteFile(s.path, []byte(strings.Join(s.lines, "\n")+"\n"), 0o644)
}

type options struct {
	list         string
	sample, jobs int
	seed         uint64
	longest      time.Duration
	update       bool
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.list, "list", "internal/mutants/survivors.txt", "the list of survivors")
	flag.IntVar(&o.sample, "sample", 0, "mutants to try of each package; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the sample")
	flag.IntVar(&o.jobs, "jobs", 2, "mutants to try at the same time")
	flag.DurationVar(&o.longest, "longest", 3*time.Second, "leave out tests that need more CPU")
	flag.BoolVar(&o.update, "update", false, "write the list anew for the packages tried")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := mutate(ctx, o, flag.Args(), os.Stdout)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// mutate tries the mutants of packages, and compares the survivors with the list.
func mutate(ctx context.Context, o options, packages []string, out io.Writer) error {
	raw, err := os.ReadFile(o.list)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	known := &survivors{o.list, strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")}
	listed := known.keys()
	var fresh, gone []string
	for _, path := range packages {
		began := time.Now()
		b, got, err := tryPackage(ctx, o, path, listed, out)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d of %d mutants survive, %d of them reached by no test (%s)\n",
			b.name, len(got.survivors), got.mutants, got.unreached,
			time.Since(began).Round(time.Second))
		for _, key := range got.survivors {
			if !listed[key] {
				fresh = append(fresh, key)
			}
		}
		for key := range listed {
			if strings.HasPrefix(key, b.name+" ") && (slices.Contains(got.killed, key) ||
				!slices.Contains(b.keys, key)) {
				gone = append(gone, key)
			}
		}
	}
	slices.Sort(gone)
	return report(o, known, fresh, gone, out)
}

// report says how the survivors differ from the list.
func report(o options, known *survivors, fresh, gone []string, out io.Writer) error {
	if o.update {
		fmt.Fprintf(out, "%s: %d lines fewer, %d more.\n", o.list, len(gone), len(fresh))
		return known.update(gone, fresh)
	}
	for _, part := range []struct {
		title string
		keys  []string
	}{
		{"No test notices these changes. Add a test that does:", fresh},
		{"These are killed, or no longer in the code. Remove them from " + o.list +
			" (flag -update):", gone},
	} {
		if len(part.keys) > 0 {
			fmt.Fprintf(out, "%s\n%s\n", part.title, strings.Join(part.keys, "\n"))
		}
	}
	if len(fresh)+len(gone) > 0 {
		return fmt.Errorf("%d survivors are not in %s, and %d in it are none", len(fresh), o.list,
			len(gone))
	}
	return nil
}

// tryPackage tries the mutants of one package, or a sample of them.
func tryPackage(
	ctx context.Context, o options, path string, listed map[string]bool, out io.Writer,
) (*binary, outcome, error) {
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, outcome{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // below the system's temporary folder
	b, err := build(ctx, path, folder)
	if err != nil {
		return nil, outcome{}, err
	}
	left, err := b.baseline(ctx, o.longest)
	if err != nil {
		return nil, outcome{}, err
	}
	if len(left) > 0 {
		fmt.Fprintf(out, "%s: left out, because they need more than %s of CPU: %s\n", b.name,
			o.longest, strings.Join(left, ", "))
	}
	var ids []int
	for _, i := range rand.New(rand.NewPCG(o.seed, 0)).Perm(len(b.keys)) {
		ids = append(ids, i+1)
	}
	if o.sample > 0 {
		ids = ids[:min(o.sample, len(ids))]
	}
	got, err := b.try(ctx, ids, o.jobs, listed)
	return b, got, err
}
