package serve

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The bounds of rendering.
const (
	lookPause   = time.Second // between two looks at files, and between two renderings
	renderShare = 20          // a page takes at most 1/renderShare of the time to render
	mostKept    = 8           // pages in memory
	maxDepth    = 3           // a study's folder has searches, which have runs
	maxFiles    = 20_000      // whose changes are seen
)

// pages renders one page at a time, and keeps the last ones for all readers. Pages of one key
// show the same place.
type pages struct {
	render Page
	turn   chan struct{} // holds one value while a page is rendered

	mu   sync.Mutex
	kept []*kept // the one used last is first
}

// kept is a rendered page with the state of its files.
type kept struct {
	key      string
	version  string // of the files when they were rendered; "": not yet
	body     []byte
	rendered time.Time
	took     time.Duration
	seen     string // the version at the last look
	looked   time.Time
}

func newPages(render Page) *pages {
	return &pages{render: render, turn: make(chan struct{}, 1)}
}

// of returns the kept page of a key. The caller holds the lock.
func (p *pages) of(key string) *kept {
	at := slices.IndexFunc(p.kept, func(k *kept) bool { return k.key == key })
	k := &kept{key: key}
	if at >= 0 {
		k = p.kept[at]
		p.kept = slices.Delete(p.kept, at, at+1)
	}
	p.kept = slices.Insert(p.kept, 0, k)
	if len(p.kept) > mostKept {
		p.kept = slices.Delete(p.kept, mostKept, len(p.kept))
	}
	return k
}

// version returns the version that get would show now. With final, it is that of the files.
func (p *pages) version(key string, dirs []string, final bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, now := p.of(key), time.Now()
	if !final && k.version != "" &&
		now.Sub(k.rendered) < max(lookPause, k.took*renderShare) {
		return k.version
	}
	if final || k.seen == "" || now.Sub(k.looked) >= lookPause {
		k.seen, k.looked = versionOf(dirs), now
	}
	return k.seen
}

// get returns a page and its version. It renders unless the kept page is that version.
func (p *pages) get(ctx context.Context, key string, dirs []string, final bool) ([]byte, string,
	error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	defer func() { <-p.turn }()
	version := p.version(key, dirs, final)
	if len(dirs) == 0 {
		return nil, version, errors.New("nothing is measured yet: the experiment is starting")
	}
	p.mu.Lock()
	k := p.of(key)
	p.mu.Unlock()
	if k.version == version { // only get, one at a time, changes it
		return k.body, version, nil
	}
	began := time.Now()
	body, err := p.rendered(ctx, dirs)
	if err != nil {
		return nil, version, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k.version, k.body, k.rendered, k.took = version, body, time.Now(), time.Since(began)
	return body, version, nil
}

// rendered renders a page. Files may hold anything, so a panic is an error like others.
func (p *pages) rendered(ctx context.Context, dirs []string) (body []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the page cannot be rendered, which is a defect of plimsoll: %v", r)
		}
	}()
	return p.render(ctx, dirs)
}

// versionOf is another text whenever a file of an experiment has changed. It looks at the names,
// sizes and times of files, and does not read them.
func versionOf(dirs []string) string {
	sum, files := fnv.New64a(), 0
	for _, dir := range dirs {
		fmt.Fprintf(sum, "%q", dir)
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // it was removed meanwhile
			case d.IsDir() && path != dir && skipped(d.Name(), depth(dir, path)):
				return fs.SkipDir
			case d.IsDir() || !written(d.Name()):
				return nil
			case files == maxFiles:
				return fs.SkipAll
			}
			files++
			if info, err := d.Info(); err == nil {
				fmt.Fprintf(sum, "%q %d %d;", path, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}

func depth(dir, path string) int {
	return strings.Count(strings.TrimPrefix(path, dir), string(os.PathSeparator))
}

// skipped reports whether a folder within an experiment has nothing that a page shows.
func skipped(name string, depth int) bool {
	return strings.HasPrefix(name, ".") || name == "logs" || depth > maxDepth
}

// written reports whether a file of this name is of a format of run directories.
func written(name string) bool {
	return !strings.HasPrefix(name, ".") &&
		slices.Contains([]string{".json", ".jsonl", ".hlog"}, filepath.Ext(name))
}
