package serve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Live is the page of one experiment of this process. Its methods may be called from any
// goroutine, and do nothing on nil.
type Live struct {
	*Server

	mu   sync.Mutex
	dirs []string
	over bool
	end  chan struct{} // closed when over is set
}

// Follow serves the page of an experiment until Close. Show names its directories.
func Follow(o Options) (*Live, error) {
	l := &Live{end: make(chan struct{})}
	s, listener, err := newServer(o, l)
	if err != nil {
		return nil, err
	}
	l.Server = s
	s.mux.HandleFunc("GET /{place...}", s.page)
	s.serve(listener)
	return l, nil
}

// Show adds a directory to the page: a run's, or an experiment's folder.
func (l *Live) Show(dir string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	if !slices.Contains(l.dirs, dir) {
		l.dirs = append(l.dirs, dir)
	}
}

// End tells the server that nothing will be written any more. It returns when every browser that
// shows the page has its last version, or after lastLimit, and reports whether there is a page at
// all. The page can still be opened until Close.
func (l *Live) End() (shown bool) {
	if l == nil {
		return false
	}
	l.mu.Lock()
	shown = len(l.dirs) > 0
	if !l.over {
		l.over = true
		close(l.end)
	}
	l.mu.Unlock()
	const look = 10 * time.Millisecond
	for waited := time.Duration(0); len(l.readers) > 0 && waited < lastLimit; waited += look {
		time.Sleep(look)
	}
	return shown
}

// Close ends the server.
func (l *Live) Close() error {
	if l == nil {
		return nil
	}
	return l.Server.Close()
}

// find returns the experiment's directories, or one within the last of them.
func (l *Live) find(place string) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if place == "" {
		return slices.DeleteFunc(slices.Clone(l.dirs), func(dir string) bool {
			_, err := os.Stat(dir) // a run that measured nothing leaves no directory
			return errors.Is(err, fs.ErrNotExist)
		}), nil
	}
	if len(l.dirs) == 0 {
		return nil, fs.ErrNotExist
	}
	dir, err := within(l.dirs[len(l.dirs)-1], place)
	return []string{dir}, err
}

func (l *Live) running([]string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.over
}

func (l *Live) ended() <-chan struct{} { return l.end }

func (*Live) bar(place string) []link {
	if place == "" {
		return nil
	}
	return []link{{"/", "The whole experiment"}}
}
