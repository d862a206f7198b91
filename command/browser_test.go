package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// answerLimit bounds the time of a browser for one action.
const answerLimit = 20 * time.Second

// browser is a tab of a real browser.
type browser struct {
	context.Context
	*seen

	doing  string                         // what failures name
	paused chan *fetch.EventRequestPaused // requests that wait for the test
}

// seen is what must not happen on any page of any tab.
type seen struct {
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
	return (&browser{Context: started, seen: &seen{hosts: map[string]bool{}}}).tab(t)
}

// tab opens a tab that lives as long as the test. The first one starts the browser.
func (b *browser) tab(t *testing.T, options ...chromedp.ContextOption) *browser {
	t.Helper()
	tab := &browser{seen: b.seen, paused: make(chan *fetch.EventRequestPaused, 100)}
	ctx, cancel := chromedp.NewContext(b.Context,
		append(options, chromedp.WithListener(tab.hear))...)
	t.Cleanup(cancel)
	tab.Context, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	focused := emulation.SetFocusEmulationEnabledParams{Enabled: true} // as other tabs are too
	if err := chromedp.Do(tab, command(emulation.SetFocusEmulationEnabled, focused)); err != nil {
		t.Fatalf("open a tab of the browser: %v", err)
	}
	return tab
}

// command calls a command of the browser's protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, c, params)
		return err
	})
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

// is returns the value of an expression, or of what it promises.
func is[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, answerLimit)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	for err != nil && strings.Contains(err.Error(), "target navigated") {
		value, err = chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	}
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
	lines := linesOf(t, cmd)
	line := lineWith(t, lines, "page: http://127.0.0.1:")
	go func() {
		for lines.Scan() { // so that the command never waits for the pipe
		}
	}()
	return strings.TrimPrefix(line, "page: "), cmd
}

// followLive opens the page of a run, unfolds the figures of a chart and scrolls it, interrupts the
// run when the figures have changed, and waits for the last page. It unfolds no warnings, because
// they may go.
func followLive(t *testing.T, b *browser, address string, run *exec.Cmd) {
	t.Helper()
	b.do(t, chromedp.Navigate(address))
	b.await(t, `document.querySelector("main details.figures") !== null &&
		document.querySelector("#live").dataset.state === "live"`)
	if at := is[string](t, b, "location.search"); at != "" {
		t.Errorf("the address still has %s", at)
	}
	b.press(t, "\t", "details.figures > summary")
	b.do(t, chromedp.KeyEvent("\r"))
	unfolded := is[string](t, b, `document.activeElement.parentElement?.open ?
		document.activeElement.textContent.replace(/[0-9]+/, "#") : ""`)
	is[float64](t, b, "scrollTo({top: 200, behavior: 'instant'}), scrollY")
	is[string](t, b, `window.before = document.querySelector("main").textContent`)
	b.await(t, `document.querySelector("#live").dataset.state === "live" &&
		document.querySelector("main").textContent !== window.before`)
	signalTo(t, run, os.Interrupt)
	b.await(t, `document.querySelector("#live").dataset.state === "over"`)
	if kept := is[string](t, b, `document.activeElement.parentElement?.open ?
		document.activeElement.textContent.replace(/[0-9]+/, "#") : ""`); unfolded == "" || kept != unfolded {
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
	interrupt(t, run, exitInterrupted)
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

// compareByKeyboard ticks two runs of a list and opens their comparison.
func compareByKeyboard(t *testing.T, b *browser, address string) {
	t.Helper()
	b.do(t, chromedp.Navigate(address))
	b.await(t, `document.querySelector("input[name=run]") !== null`)
	for _, name := range []string{"nats", "sim"} {
		b.press(t, "\t", fmt.Sprintf("input[value$='-%s-cells']:not([value*='-peak-'])", name))
		b.do(t, chromedp.KeyEvent(" "))
	}
	if n := is[int](t, b, `document.querySelectorAll("input[name=run]:checked").length`); n != 2 {
		t.Fatalf("%d runs are ticked", n)
	}
	b.do(t, chromedp.KeyEvent("\r"))
	b.await(t, `location.pathname === "/compare" && ["nats", "sim"].every(
		name => document.querySelector("main")?.textContent.includes(name))`)
}
