package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/plimsoll-bench/plimsoll/result"
)

// answerLimit bounds the time of a browser for one action.
const answerLimit = 20 * time.Second

// browser is a tab of a real browser. It remembers what must not happen on any page.
type browser struct {
	context.Context

	doing  string                         // what failures name
	paused chan *fetch.EventRequestPaused // requests that wait for the test

	mu     sync.Mutex
	hosts  map[string]bool
	errors []string
}

// openBrowser starts chromium, or skips the test where there is none.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("%s needs a browser: install chromium", t.Name())
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1440, 900), chromedp.DisableGPU,
		chromedp.Flag("force-prefers-reduced-motion", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	started, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	b := &browser{hosts: map[string]bool{}, paused: make(chan *fetch.EventRequestPaused, 100)}
	ctx, cancel := chromedp.NewContext(started, chromedp.WithListener(b.hear))
	t.Cleanup(cancel)
	b.Context, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	if err := chromedp.Do(b); err != nil { // the browser lives as long as this context
		t.Fatalf("start %s: %v", path, err)
	}
	return b
}

// hear handles an event of the browser.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *fetch.EventRequestPaused:
		b.paused <- e
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Host != "" {
			b.hosts[u.Host] = true
		}
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.errors = append(b.errors, e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			b.errors = append(b.errors, fmt.Sprint(e.Args))
		}
	}
}

// forget removes the error that a page with a status that is not 200 causes in the console.
func (b *browser) forget(status string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = slices.DeleteFunc(b.errors, func(s string) bool {
		return strings.Contains(s, "the server responded with a status of "+status)
	})
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, answerLimit)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatalf("%s: %v", b.doing, err)
	}
}

// is returns the value of an expression.
func is[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, answerLimit)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %.200s: %v", b.doing, expression, err)
	}
	return value
}

// await waits until an expression is true.
func (b *browser) await(t *testing.T, expression string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is[bool](t, b, expression); time.Sleep(
		50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s; the page is\n%.3000s", expression,
				is[string](t, b, "document.body.innerText"))
		}
	}
}

// press presses keys, such as \t for Tab, until the focus is on what a selector matches.
func (b *browser) press(t *testing.T, keys, selector string) {
	t.Helper()
	at := fmt.Sprintf("document.activeElement.matches(%q)", selector)
	for range 60 {
		b.do(t, chromedp.KeyEvent(keys))
		if is[bool](t, b, at) {
			return
		}
	}
	t.Fatalf("the focus does not reach %s", selector)
}

// check requires that nothing failed and that no other host was contacted.
func (b *browser) check(t *testing.T, servers ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) > 0 {
		t.Errorf("errors in the console: %q", b.errors)
	}
	for _, server := range servers {
		u, err := url.Parse(server)
		if err != nil || !b.hosts[u.Host] {
			t.Errorf("%s was not asked: %v", server, err)
			continue
		}
		delete(b.hosts, u.Host)
	}
	for host := range b.hosts {
		t.Errorf("a page asked the host %s", host)
	}
}

// served starts a command that serves a page, and returns the page's address.
func served(t *testing.T, dir string, args ...string) (address string, cmd *exec.Cmd) {
	t.Helper()
	cmd = self(t, dir, args...)
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(talk)
	for address == "" && lines.Scan() {
		address, _ = strings.CutPrefix(lines.Text(), "page: ")
		if !strings.HasPrefix(address, "http://127.0.0.1:") {
			address = ""
		}
	}
	go func() {
		for lines.Scan() { // so that the command never waits for the pipe
		}
	}()
	if address == "" {
		t.Fatal("no address was printed")
	}
	return address, cmd
}

// In a real browser: the page of a run on NATS changes while it is measured and, when the run is
// interrupted, ends as the saved report; two runs are ticked and compared, by keyboard only; every
// control of every page is used, by mouse and by keyboard.
func TestRealBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("measures in front of a browser")
	}
	b := openBrowser(t)
	dir := inDir(t, map[string]string{"short.yaml": "name: short\nload: {rate: 500/s}\n" +
		"warmup: 1s\nduration: 5m\n",
		"cells.yaml": "name: cells\nload: {rate: 500/s}\nwarmup: 0s\nduration: 1s\n"})
	u := &user{browser: b, root: filepath.Join(dir, "runs"), visited: map[string]bool{},
		linked: map[string]bool{}}
	live, cmd := served(t, dir, "run", "-t", "nats", "-w", "short.yaml", "--warm", "0s", "--ui")
	useLive(t, u, live)
	followLive(t, b, live, cmd.Process)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	checkSaved(t, b, filepath.Join(dir, "runs", result.LatestLink, result.ReportFile))

	hidden, cmd := served(t, dir, "run", "-t", "sim", "-w", "short.yaml", "--warm", "0s", "--ui")
	endUnseen(t, b, hidden, cmd)
	checkSaved(t, b, filepath.Join(dir, "runs", result.LatestLink, result.ReportFile))

	list, cmd := served(t, dir, "serve")
	compareByKeyboard(t, b, list)
	if out, err := self(t, dir, "sweep", "-t", "sim", "-w", "cells.yaml", "--vary",
		"partitions=1,2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	u.useServed(t, list)
	t.Logf("used %d of %d controls", u.used, u.all)
	if u.used < u.all || u.all < 100 {
		t.Errorf("used %d of %d controls", u.used, u.all)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	b.check(t, live, hidden, list)
}

// useLive uses all controls of the page of a run that is measured.
func useLive(t *testing.T, u *user, address string) {
	t.Helper()
	u.do(t, chromedp.Navigate(address))
	u.await(t, `document.querySelectorAll("main .drawing").length > 5 &&
		document.querySelector("main .cards") !== null`)
	u.useAll(t)
}

// followLive opens the page of a run, unfolds and scrolls it, interrupts the run when the figures
// have changed, and waits for the last page.
func followLive(t *testing.T, b *browser, address string, run *os.Process) {
	t.Helper()
	b.do(t, chromedp.Navigate(address))
	b.await(t, `document.querySelector("main details") !== null &&
		document.querySelector("#live").dataset.state === "live"`)
	if at := is[string](t, b, "location.search"); at != "" {
		t.Errorf("the address still has %s", at)
	}
	b.press(t, "\t", "summary")
	b.do(t, chromedp.KeyEvent("\r"))
	unfolded := is[string](t, b, `document.activeElement.parentElement?.open ?
		document.activeElement.textContent : ""`)
	is[float64](t, b, "scrollTo({top: 200, behavior: 'instant'}), scrollY")
	is[string](t, b, `window.before = document.querySelector("main").textContent`)
	b.await(t, `document.querySelector("#live").dataset.state === "live" &&
		document.querySelector("main").textContent !== window.before`)
	if err := run.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	b.await(t, `document.querySelector("#live").dataset.state === "over"`)
	if kept := is[string](t, b, `document.activeElement.parentElement?.open ?
		document.activeElement.textContent : ""`); unfolded == "" || kept != unfolded {
		t.Errorf("unfolded and focused was %q, at the end %q on %s", unfolded, kept,
			is[string](t, b, "document.activeElement.outerHTML.slice(0, 300)"))
	}
	if top := is[float64](t, b, "scrollY"); top < 100 {
		t.Errorf("the page was scrolled back to %g", top)
	}
}

// endUnseen hides the page of a run, ends the run, and shows the page again.
func endUnseen(t *testing.T, b *browser, address string, run *exec.Cmd) {
	t.Helper()
	const see = `Object.defineProperty(document, "hidden", {configurable: true, get: () => %t});
		document.dispatchEvent(new Event("visibilitychange"))`
	b.do(t, chromedp.Navigate(address))
	b.await(t, `document.querySelector("main details") !== null &&
		document.querySelector("#live").dataset.state === "live"`)
	is[bool](t, b, fmt.Sprintf(see, true))
	if err := run.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	is[bool](t, b, fmt.Sprintf(see, false))
	b.await(t, `document.querySelector("#live").dataset.state === "over"`)
}

// checkSaved checks that the page in the browser is the saved one, except for unfolded parts.
func checkSaved(t *testing.T, b *browser, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := json.Marshal(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	if !is[bool](t, b, `(() => {
		const main = (from) => {
			const copy = from.querySelector("main").cloneNode(true);
			for (const d of copy.querySelectorAll("details")) d.open = false;
			return copy;
		};
		const saved = new DOMParser().parseFromString(`+string(saved)+`, "text/html");
		return main(document).isEqualNode(main(saved)) && document.title === saved.title;
	})()`) {
		t.Errorf("the last page is not the saved one:\n%.3000s",
			is[string](t, b, "document.body.innerText"))
	}
}

// compareByKeyboard ticks the two runs of a list and opens their comparison.
func compareByKeyboard(t *testing.T, b *browser, address string) {
	t.Helper()
	b.do(t, chromedp.Navigate(address))
	b.await(t, `document.querySelectorAll("input[name=run]").length === 2`)
	const tick = "input[name=run]:not(:checked)"
	b.press(t, "\t", tick)
	b.do(t, chromedp.KeyEvent(" "))
	b.press(t, "\t", tick)
	b.do(t, chromedp.KeyEvent(" "))
	if n := is[int](t, b, `document.querySelectorAll("input[name=run]:checked").length`); n != 2 {
		t.Fatalf("%d runs are ticked", n)
	}
	b.do(t, chromedp.KeyEvent("\r"))
	b.await(t, `location.pathname === "/compare" && ["nats", "sim"].every(
		name => document.querySelector("main")?.textContent.includes(name))`)
}
