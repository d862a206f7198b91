package command

import (
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/plimsoll-bench/plimsoll/result"
)

// browsed are the loads of the experiments in the browser.
var browsed = map[string]string{
	"short.yaml":  "name: short\nload: {rate: 500/s}\nwarmup: 1s\nduration: 5m\n",
	"parts.yaml":  "name: parts\nload: {rate: 500/s}\nwarmup: 0s\nduration: 4s\n",
	"trials.yaml": "name: trials\nload: {rate: 500/s}\nwarmup: 0s\nduration: 9s\n",
	"cells.yaml":  "name: cells\nload: {rate: 500/s}\nwarmup: 0s\nduration: 1s\n",
	"own.yaml":    ownStudy,
}

// Experiments of every kind but single runs: some that end by themselves, and some that are under
// way while their pages are used.
var (
	ended = [][]string{
		{"run", "-t", "nats", "-w", "cells.yaml", "--warm", "0s"},
		{"run", "-t", "sim", "-w", "cells.yaml"},
		{"peak", "-t", "sim", "-w", "cells.yaml", "--start", "500/s", "--trial", "1s",
			"--confirm", "0", "--tolerance", "50%", "--max-time", "3s"},
		{"sweep", "-t", "sim", "-w", "cells.yaml", "--vary", "partitions=1,2"},
		{"verify", "-t", "sim", "-w", "cells.yaml", "--rounds", "1", "--quiet", "100ms",
			"--fault", "kill leader at 300ms for 200ms", "--fault", "pause one at 300ms for 200ms"},
		{"study", "run", "own.yaml", "--scale", "smoke"},
	}
	underWay = [][]string{
		{"run", "-t", "sim", "-w", "trials.yaml", "--trials", "1000"},
		{"peak", "-t", "sim", "-w", "parts.yaml", "--start", "500/s", "--trial", "4s",
			"--tolerance", "1%", "--confirm", "5"},
		{"sweep", "-t", "sim", "-w", "parts.yaml", "--vary", "partitions=1,2,4,8", "--vary",
			"producers=1,2,4,8", "--vary", "consumers=1,2"},
		{"verify", "-t", "sim", "-w", "parts.yaml", "--rounds", "100", "--quiet", "100ms",
			"--fault", "kill leader at 1s for 1s"},
	}
)

// browsing is a test in a browser, whose tabs use pages side by side.
type browsing struct {
	*uses

	dir  string
	tabs chan *browser

	mu      sync.Mutex
	servers []string
	pages   int
}

// In a real browser, every control of every page is used, by mouse and by keyboard: of all pages
// that links lead to, of every kind of experiment, ended and under way. One of several that are
// alike is enough. The page of a run on NATS changes while it is measured and, when the run is
// interrupted, ends as the saved report; two runs are ticked and compared, by keyboard only.
func TestRealBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("measures in front of a browser")
	}
	b := openBrowser(t)
	g := &browsing{uses: &uses{keys: map[string]bool{}}, dir: inDir(t, browsed),
		tabs: make(chan *browser, 3)}
	var measured sync.WaitGroup
	for _, args := range ended {
		measured.Go(func() { g.measure(t, args) })
	}
	g.tabs <- b
	for range cap(g.tabs) - 1 {
		g.tabs <- b.tab(t)
	}
	var using sync.WaitGroup
	g.inTab(t, &using, "under way: nats", g.useLive)
	g.inTab(t, &using, "unseen", g.endUnseen)
	for _, args := range underWay {
		g.inTab(t, &using, "under way: "+args[0], g.useUnderWay(t, args))
	}
	measured.Wait()
	using.Go(func() { t.Run("ended", g.useServed) })
	using.Wait()
	t.Logf("%d pages have %d controls: %d were used, by mouse and by keyboard, and %d are like one "+
		"of them", g.pages, g.all, g.used, g.alike)
	if g.used+g.alike < g.all || g.used < 200 {
		t.Errorf("not every control was used")
	}
	b.check(t, g.servers...)
}

// inTab runs a test beside others, in a tab of its own.
func (g *browsing) inTab(t *testing.T, using *sync.WaitGroup, name string,
	test func(*testing.T, *browser)) {
	using.Go(func() {
		b := <-g.tabs
		defer func() { g.tabs <- b }()
		t.Run(name, func(t *testing.T) { test(t, b) })
	})
}

// serve starts a command that serves a page, and returns the page's address.
func (g *browsing) serve(t *testing.T, args ...string) (address string, cmd *exec.Cmd) {
	t.Helper()
	address, cmd = served(t, g.dir, args...)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.servers = append(g.servers, address)
	return address, cmd
}

// user returns the user of one more page.
func (g *browsing) user(b *browser) *user {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pages++
	return &user{browser: b, uses: g.uses, root: filepath.Join(g.dir, "runs")}
}

// latest is the report of the newest experiment in a folder.
func (g *browsing) latest(folder string) string {
	return filepath.Join(g.dir, folder, result.LatestLink, result.ReportFile)
}

// measure makes an experiment. A promise that sim breaks is none of the pages' concern.
func (g *browsing) measure(t *testing.T, args []string) {
	t.Helper()
	if out, err := self(t, g.dir, args...).CombinedOutput(); err != nil &&
		!strings.Contains(string(out), "report: ") {
		t.Errorf("%v: %v: %s", args, err, out)
	}
}

// interrupt ends a command, and checks its exit code.
func interrupt(t *testing.T, cmd *exec.Cmd, code int) {
	t.Helper()
	signalTo(t, cmd, syscall.SIGINT)
	endsWith(t, cmd, code)
}

// useLive uses the page of a run that is measured, and follows it to its end.
func (g *browsing) useLive(t *testing.T, b *browser) {
	address, cmd := g.serve(t, "run", "-t", "nats", "-w", "short.yaml", "--warm", "0s", "--ui",
		"--runs", "live")
	b.do(t, chromedp.Navigate(address))
	b.await(t, `document.querySelectorAll("main .drawing").length > 5 &&
		document.querySelector("main .cards") !== null`)
	g.user(b).useAll(t)
	followLive(t, b, address, cmd)
	endsWith(t, cmd, exitInterrupted)
	checkSaved(t, b, g.latest("live"))
}

// endUnseen hides the page of a run, ends the run, and shows the page again.
func (g *browsing) endUnseen(t *testing.T, b *browser) {
	address, cmd := g.serve(t, "run", "-t", "sim", "-w", "short.yaml", "--ui", "--runs", "unseen")
	endUnseen(t, b, address, cmd)
	checkSaved(t, b, g.latest("unseen"))
}

// useUnderWay starts an experiment, and returns a test that uses its pages when it has measured
// something and goes on.
func (g *browsing) useUnderWay(t *testing.T, args []string) func(*testing.T, *browser) {
	t.Helper()
	args = append(args[:len(args):len(args)], "--ui", "--runs", "under-way-"+args[0])
	address, cmd := g.serve(t, args...)
	return func(t *testing.T, b *browser) {
		b.do(t, chromedp.Navigate(address))
		b.await(t, `document.querySelector("main .drawing, main td") !== null`)
		pages, _ := pagesOf(t, address)
		for _, page := range pages {
			g.user(b).use(t, page)
		}
		b.do(t, chromedp.Navigate("about:blank"))
		interrupt(t, cmd, exitInterrupted)
	}
}

// useServed uses all pages of a served folder, from the token on.
func (g *browsing) useServed(t *testing.T) {
	address, cmd := g.serve(t, "serve")
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	base, token := at.Scheme+"://"+at.Host, at.Query().Get("token")
	pages, posting := pagesOf(t, address, "/?q=nothing-is-called-so", "/compare?run=one")
	var using sync.WaitGroup
	g.inTab(t, &using, "compare", func(t *testing.T, b *browser) {
		b.do(t, chromedp.Navigate(address))
		compareByKeyboard(t, b, base)
		g.user(b).useAll(t)
	})
	for _, page := range pages {
		g.inTab(t, &using, "page", func(t *testing.T, b *browser) {
			b.do(t, chromedp.Navigate(address))
			g.user(b).use(t, page)
		})
	}
	using.Wait()
	b := <-g.tabs
	defer func() { g.tabs <- b }()
	b.do(t, chromedp.Navigate(address))
	for _, page := range posting {
		g.user(b).use(t, page)
	}
	u := g.user(b.tab(t, chromedp.WithNewBrowserContext()))
	u.token = token
	u.enter(t, base)
	u.keepNotes(t, base)
	g.user(b).use(t, base+"/trash/")
	u.forget("401")
	u.forget("422")
	interrupt(t, cmd, 0)
}

// enter enters the token.
func (u *user) enter(t *testing.T, base string) {
	t.Helper()
	u.use(t, base)
	u.do(t, chromedp.Navigate(base))
	u.do(t, chromedp.KeyEvent(u.token+"\r")) // the field has the focus
	u.await(t, `document.querySelector("form[action='/compare']") !== null`)
}

// keepNotes saves notes, deletes an experiment, and restores another one, as a reader does who
// goes from page to page.
func (u *user) keepNotes(t *testing.T, base string) {
	t.Helper()
	run := is[string](t, u.browser, `document.querySelector("[name=run]").value`)
	u.do(t, chromedp.Navigate(base+"/notes/"+run))
	u.press(t, "\t", "#tags")
	u.do(t, chromedp.KeyEvent("kept\r"))
	u.await(t, `location.pathname === "/" &&
		document.querySelector(".tag")?.textContent === "kept"`)
	for _, way := range []struct{ page, button, until string }{
		{"/notes/" + run, "form[action^='/trash/'] button", "=== null"},
		{"/trash/", "form[action^='/restore/'] button", "!== null"},
		{"/notes/" + run, "form[action^='/trash/'] button", "=== null"},
	} {
		u.do(t, chromedp.Navigate(base+way.page))
		u.press(t, "\t", way.button)
		u.do(t, chromedp.KeyEvent("\r"))
		u.await(t, fmt.Sprintf(`location.pathname === "/" &&
			document.querySelector("[value='%s']") %s`, run, way.until))
	}
}

var (
	linkTo = regexp.MustCompile(`(?:<a [^>]*href|<form [^>]*method="get" [^>]*action)="([^"#]+)`)
	posts  = regexp.MustCompile(`<form [^>]*method="post"`)
)

// pagesOf returns the addresses of all pages of a server that links and forms lead to, those that
// change experiments apart. Addresses whose queries have the same keys are of one page that shows
// other rows.
func pagesOf(t *testing.T, address string, more ...string) (pages, posting []string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	root, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	queue, known := []*url.URL{root}, map[string]bool{}
	add := func(from *url.URL, link string) {
		at, err := from.Parse(html.UnescapeString(link))
		if err != nil || at.Host != root.Host {
			t.Errorf("%s links to %s: %v", from, link, err)
			return
		}
		at.Fragment = ""
		key := at.Path + fmt.Sprint(slices.Sorted(maps.Keys(at.Query())))
		if !known[key] {
			known[key] = true
			queue = append(queue, at)
		}
	}
	add(root, "/")
	for _, m := range more {
		add(root, m)
	}
	for n := 0; n < len(queue); n++ {
		page := read(t, client, queue[n])
		for _, link := range linkTo.FindAllStringSubmatch(page, -1) {
			add(queue[n], link[1])
		}
		switch {
		case n == 0: // the address with the token
		case posts.MatchString(page):
			posting = append(posting, queue[n].String())
		default:
			pages = append(pages, queue[n].String())
		}
	}
	return pages, posting
}

// read returns a page.
func read(t *testing.T, client *http.Client, at *url.URL) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if refused := at.Path == "/compare" && len(at.Query()["run"]) < 2; res.StatusCode !=
		http.StatusOK && !refused {
		t.Errorf("%s: %s: %.300s", at, res.Status, page)
	}
	return string(page)
}
