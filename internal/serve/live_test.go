package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// follow serves a run's page through pipes, in virtual time. It counts the renderings.
func follow(t *testing.T, takes time.Duration, size int) (l *Live, p *pipes, rendered *int) {
	t.Helper()
	rendered = new(int)
	l = &Live{end: make(chan struct{})}
	s, listener, err := newServer(Options{Token: testToken,
		Page: func(context.Context, []string) ([]byte, error) {
			*rendered++
			time.Sleep(takes)
			return fmt.Appendf(nil, report, strings.Repeat("x", size)), nil
		}}, l)
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	l.Server, p = s, newPipes()
	s.mux.HandleFunc("GET /{place...}", s.page)
	s.serve(p)
	dir := t.TempDir()
	writeRun(t, dir, &result.Run{State: result.Running})
	l.Show(dir)
	l.Show(dir)
	return l, p, rendered
}

// touch changes the files of a live page. File times are of the real clock, so sizes differ.
func touch(t *testing.T, l *Live) {
	t.Helper()
	path := filepath.Join(l.dirs[0], "intervals.jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("{}\n"); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, l *Live) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// events collects the names of the events of a place as they arrive. The function returns those
// that came within a length of time.
func events(t *testing.T, c net.Conn) (told func(length time.Duration) []string) {
	t.Helper()
	in, names := lines(t, c), make(chan string, 100)
	go func() {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if name, is := strings.CutPrefix(line, "event: "); is {
				names <- strings.TrimSpace(name)
			}
		}
	}()
	return func(length time.Duration) (all []string) {
		time.Sleep(length)
		synctest.Wait()
		for len(names) > 0 {
			all = append(all, <-names)
		}
		return all
	}
}

func TestChangesAreToldAtMostOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p, _ := follow(t, 0, 1)
		defer closed(t, l)
		c := p.ask(t, "/events?of=")
		defer c.Close()
		told := events(t, c)
		if got := told(10 * time.Millisecond); len(got) != 1 || got[0] != "changed" {
			t.Errorf("at first: %v", got)
		}
		for range 30 {
			touch(t, l)
			time.Sleep(100 * time.Millisecond)
		}
		if got := told(0); len(got) < 2 || len(got) > 3 {
			t.Errorf("in 3 s: %v", got)
		}
		_ = told(2 * time.Second)
		if got := told(time.Minute); len(got) < 3 || len(got) > 4 || got[0] != "beat" {
			t.Errorf("in a quiet minute: %v", got)
		}
		go l.End()
		if got := told(time.Millisecond); len(got) != 1 || got[0] != "over" {
			t.Errorf("at the end: %v", got)
		}
		_ = told(lastLimit)
	})
}

// A hidden page makes no work and learns of the end.
func TestHiddenPagesAreToldOfTheEndAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p, rendered := follow(t, 0, 1)
		defer closed(t, l)
		c := p.ask(t, "/events?of=&hidden=")
		defer c.Close()
		told := events(t, c)
		for range 30 {
			touch(t, l)
			time.Sleep(time.Second)
		}
		if got := told(0); len(got) != 3 || slices.Contains(got, "changed") || *rendered > 0 {
			t.Errorf("hidden: %v, %d renderings", got, *rendered)
		}
		if len(l.pages.kept) > 0 {
			t.Error("files are looked at for a hidden page")
		}
		go l.End()
		if got := told(time.Millisecond); len(got) != 1 || got[0] != "over" {
			t.Errorf("at the end: %v", got)
		}
		_ = told(lastLimit)
	})
}

// Rendering takes at most a twentieth of the time, and without readers nothing is read.
func TestRenderingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p, rendered := follow(t, 500*time.Millisecond, 1)
		defer closed(t, l)
		time.Sleep(time.Hour)
		if *rendered != 0 {
			t.Errorf("%d pages were rendered for nobody", *rendered)
		}
		for range 100 {
			touch(t, l)
			c := p.ask(t, "/")
			if _, err := io.ReadAll(io.LimitReader(c, 100)); err != nil {
				t.Fatal(err)
			}
			c.Close()
			time.Sleep(time.Second)
		}
		if *rendered < 9 || *rendered > 11 { // 10 s apart
			t.Errorf("%d pages were rendered in 100 s", *rendered)
		}
		before := *rendered
		l.End()
		c := p.ask(t, "/")
		defer c.Close()
		if _, err := io.ReadAll(io.LimitReader(c, 100)); err != nil || *rendered != before+1 {
			t.Errorf("the last page is not rendered at once: %d, %v", *rendered-before, err)
		}
	})
}

// Readers that do not read are dropped, and others are served meanwhile.
func TestReadersThatDoNotReadAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p, rendered := follow(t, 0, 1<<20)
		defer closed(t, l)
		for range 20 {
			defer p.ask(t, "/events?of=").Close()
			defer p.ask(t, "/").Close()
		}
		synctest.Wait()
		if n := len(l.readers); n != 20 || *rendered != 1 {
			t.Errorf("%d readers, %d renderings", n, *rendered)
		}
		time.Sleep(writeLimit + time.Second)
		synctest.Wait()
		if n := len(l.readers); n != 0 {
			t.Errorf("%d readers are left after the limit", n)
		}
		c := p.ask(t, "/")
		defer c.Close()
		if raw, err := io.ReadAll(io.LimitReader(c, 1<<20)); err != nil || len(raw) != 1<<20 {
			t.Errorf("a reader that reads: %d bytes, %v", len(raw), err)
		}
		time.Sleep(answerLimit)
		synctest.Wait()
	})
}

// Connections without the token, idle or after an answer, leave a place for a reader who has it.
func TestStrangersLeaveAPlace(t *testing.T) {
	for name, says := range map[string]string{"silent": "", "refused": "GET / HTTP/1.1\r\n" +
		"Host: localhost\r\n\r\n", "slow": "POST /enter HTTP/1.1\r\nHost: localhost\r\n" +
		"Origin: http://localhost\r\nContent-Length: 9\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, p, _ := follow(t, 0, 1)
				defer closed(t, l)
				for range maxConnections + 4 {
					client, server := net.Pipe()
					defer client.Close()
					go func() { p.arrive <- server }()
					go io.Copy(io.Discard, client)
					go io.WriteString(client, says)
				}
				synctest.Wait()
				began := time.Now()
				c := p.ask(t, "/")
				defer c.Close()
				answer := make([]byte, 12)
				if _, err := io.ReadFull(c, answer); err != nil || string(answer) !=
					"HTTP/1.1 200" || time.Since(began) > 0 {
					t.Errorf("after %v: %q, %v", time.Since(began), answer, err)
				}
				go io.Copy(io.Discard, c)
				time.Sleep(headLimit + time.Second)
				synctest.Wait()
				if n := p.open.Load(); n != 1 {
					t.Errorf("%d connections are open, want the one with the token", n)
				}
			})
		})
	}
}

func TestReadersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p, _ := follow(t, 0, 1)
		defer closed(t, l)
		for range maxReaders {
			c := p.ask(t, "/events?of=")
			defer c.Close()
			go io.Copy(io.Discard, c)
		}
		synctest.Wait()
		c := p.ask(t, "/events?of=")
		defer c.Close()
		answer := make([]byte, 12)
		if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 503" {
			t.Errorf("%q, %v", answer, err)
		}
	})
}

// Before the first run, after a run without data, and within an experiment.
func TestLivePagesOfEveryState(t *testing.T) {
	l, err := Follow(Options{Page: pageOfDirs, Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, l)
	page := func(path string) (int, string) {
		code, _, body := asked{path: path}.of(t, l.Server)
		return code, body
	}
	if code, body := page("/"); code != 200 || !strings.Contains(body, "Nothing is measured yet") ||
		!strings.Contains(body, "data-whole") || !strings.Contains(body, "EventSource") {
		t.Errorf("before: %d %s", code, body)
	}
	dir := t.TempDir()
	l.Show(filepath.Join(dir, "gone"))
	l.Show(dir)
	if code, body := page("/"); code != 200 || !strings.Contains(body, "not a run directory") {
		t.Errorf("before run.json: %d %s", code, body)
	}
	writeRun(t, dir, &result.Run{State: result.Running})
	writeRun(t, filepath.Join(dir, "cell"), &result.Run{})
	if code, body := page("/"); code != 200 || !strings.Contains(body,
		"<main>"+filepath.Base(dir)+"<") || !strings.Contains(body, "EventSource") {
		t.Errorf("meanwhile: %d %s", code, body)
	}
	if code, body := page("/cell/report.html"); code != 200 || !strings.Contains(body,
		"<main>cell<") || !strings.Contains(body, "The whole experiment") {
		t.Errorf("a cell: %d %s", code, body)
	}
	if code, _ := page("/..%2f/"); code != 403 {
		t.Errorf("outside: %d", code)
	}
	if !l.End() {
		t.Error("nothing was shown")
	}
	if code, body := page("/"); code != 200 || strings.Contains(body, "EventSource") {
		t.Errorf("after: %d %s", code, body)
	}
	var none *Live
	none.Show(dir)
	if none.End() || none.Close() != nil {
		t.Error("without a page there is something to end")
	}
}

// The handler of another package passes the same checks.
func TestHandledPathsNeedTheToken(t *testing.T) {
	l, err := Follow(Options{Page: pageOfDirs, Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, l)
	l.Handle("GET /metrics", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "figures")
	}))
	if code, _, _ := (asked{path: "/metrics", anonymous: true}).of(t, l.Server); code != 401 {
		t.Errorf("without a token: %d", code)
	}
	if code, _, body := (asked{path: "/metrics", anonymous: true,
		head: bearer(testToken)}).of(t, l.Server); code != 200 || body != "figures" {
		t.Errorf("%d %s", code, body)
	}
}
