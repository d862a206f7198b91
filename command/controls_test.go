package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/serve"
)

var everyControl = flag.Bool("every-control", false,
	"use each control of each page in the browser, also where it is like one of another page")

// controls is the selector of everything on a page that a reader can use.
const controls = "a, button, input:not([type=hidden]), select, textarea, summary, [tabindex], " +
	"[onclick], [contenteditable], [role=button], iframe, object, embed, audio, video"

// rule says how a kind of controls is used, and what shows that the use had its effect. The
// scripts see the control as el.
type rule struct {
	selector string
	ready    string // is run before a use
	keys     string // use the focused control
	hover    bool   // the pointer need not press
	typed    string // keys after the mouse
	popup    bool   // takes these keys, and its end may keep the browser from confirming them
	state    string // before the use: was
	effect   string // becomes true
	asks     string // the request of a use
	// then checks the effect of a request on the files at a path, and undoes it.
	then func(u *user, t *testing.T, path string)
}

// rules are the kinds of controls; the first one that matches counts.
var rules = []rule{
	{selector: "button.theme", keys: "\r", effect: "was !== " + theme, state: theme},
	{selector: "summary", keys: "\r", state: "el.parentElement.open",
		ready: "el.parentElement.open = true", effect: "el.parentElement.open !== was"},
	{selector: ".drawing", hover: true, keys: kb.ArrowRight,
		ready:  `el.querySelector(".tip")?.remove()`,
		effect: `el.querySelector(".tip")?.textContent.length > 0`},
	{selector: `a[href^="#"]`, keys: "\r",
		ready: "history.replaceState(null, '', location.pathname + location.search)",
		effect: `location.hash === el.getAttribute("href") && Math.abs(document.querySelector(
			location.hash)?.getBoundingClientRect().top) < innerHeight`},
	{selector: "a[href]", keys: "\r", asks: `"GET " + el.href.split("#")[0]`},
	{selector: "input[type=checkbox]", keys: " ", state: "el.checked",
		effect: "el.checked !== was"},
	{selector: "input, textarea", ready: "el.value = ''", keys: "x", typed: "x",
		effect: "el.value === 'x'"},
	{selector: "select", ready: "el.selectedIndex = 0", keys: kb.ArrowDown,
		typed: kb.ArrowDown + "\r", popup: true, effect: "el.selectedIndex === 1"},
	{selector: "form[method=get] button", keys: "\r",
		ready: `[...el.form.querySelectorAll("[type=checkbox]")].filter(box => box.checked =
			[...box.closest("tr").cells].some(cell => cell.textContent === "run"))`,
		asks: `"GET " + el.form.action + "?" + new URLSearchParams(new FormData(el.form))`},
	{selector: `form[action="/enter"] button`, keys: "\r",
		ready: "el.form.token.value = token", asks: `"POST " + el.form.action`},
	{selector: `form[action^="/notes/"] button`, keys: " ",
		ready: "el.form.tags.value = 'one, two'; el.form.note.value = 'Used.'",
		asks:  `"POST " + el.form.action`, then: (*user).noted},
	{selector: `form[action^="/trash/"] button`, keys: "\r", asks: `"POST " + el.form.action`,
		then: (*user).deleted},
	{selector: `form[action^="/restore/"] button`, keys: " ", asks: `"POST " + el.form.action`,
		then: (*user).restored},
	// A frame tells the browser's other threads what scrolls: before it, a key may be lost.
	{selector: "[tabindex='0']", keys: kb.ArrowRight,
		ready: "el.scrollLeft = 0; if (byKeys) { await user.frame(); await user.frame(); }",
		effect: `document.activeElement === el && (!byKeys || el.scrollLeft > 0 ||
			el.scrollWidth - el.clientWidth < 2)`},
}

const theme = "getComputedStyle(document.documentElement).colorScheme"

// helper finds controls on a page: those that it has not found before. Controls have the same key
// if they have the same words below the same heading, on pages that both follow a measurement or
// both do not.
const helper = `const parts = [0.5, 0.2, 0.8, 0.02, 0.98];
const places = parts.flatMap(a => parts.map(b => [a, b]));
const words = text => text.replace(/[0-9][0-9.,]*/g, "0").replace(/\\s+/g, " ").trim();
window.user ??= { all: [],
	frame: () => new Promise(requestAnimationFrame),
	unfold() { document.querySelectorAll("details:not([open])").forEach(d => d.open = true); },
	key: el => [document.querySelector("#live")?.dataset.state, el.nodeName,
		el.getAttribute("class"), el.closest("figure, .block")?.querySelector("h3")?.textContent,
		el.getAttribute("aria-label") || el.name || el.textContent.slice(0, 200)].map(
			part => words(part || "")).join(),
	more(kinds, selectors) {
		this.unfold();
		const found = [...document.querySelectorAll(kinds)].filter(
			el => el.checkVisibility() && !this.all.includes(el));
		this.all.push(...found);
		return found.map(el => ({ Rule: selectors.findIndex(s => el.matches(s)),
			HTML: el.outerHTML.slice(0, 200), Key: this.key(el) }));
	},
	// at returns a point at which the pointer hits a control.
	at(el, kinds) {
		el.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
		for (const box of el.getClientRects())
			for (const [down, right] of places) {
				const [x, y] = [box.left + right * box.width, box.top + down * box.height];
				if (document.elementFromPoint(x, y)?.closest(kinds) === el) return [x, y];
			}
		return [];
	},
	// before puts the focus on the control before another one, or on the page's beginning.
	before(el, kinds) {
		this.unfold();
		const all = [...document.querySelectorAll(kinds)];
		const last = all.slice(0, all.indexOf(el)).findLast(
			e => e.tabIndex >= 0 && e.checkVisibility()) ?? document.body;
		if (last === document.body) last.tabIndex = -1;
		last.focus({ preventScroll: true });
		document.body.removeAttribute("tabindex");
	},
}`

// uses counts what readers of several tabs have used.
type uses struct {
	mu               sync.Mutex
	keys             map[string]bool // controls that a reader uses
	all, used, alike int             // controls; alike: one with the same key is used
}

// take reports whether a control is to be used: the first one of a key, unless all are.
func (u *uses) take(key string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all++
	if u.keys[key] && !*everyControl {
		u.alike++
		return false
	}
	u.keys[key] = true
	return true
}

// user uses the controls of pages as a reader does, by mouse and by keyboard.
type user struct {
	*browser
	*uses

	root  string // of the served folder
	token string
}

// control is a control of the open page.
type control struct {
	Rule      int
	HTML, Key string
}

// use opens a page and uses all of its controls.
func (u *user) use(t *testing.T, address string) {
	t.Helper()
	u.doing = address
	u.do(t, chromedp.Navigate(address))
	u.useAll(t)
}

// useAll uses the controls of the open page, first by mouse, then by keyboard. Requests for pages
// reach the server, and the browser stays on the page.
func (u *user) useAll(t *testing.T) {
	t.Helper()
	page, began := is[string](t, u.browser, "location.href"), time.Now()
	u.do(t, command(fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{
		{ResourceType: network.ResourceTypeDocument, RequestStage: fetch.RequestStageResponse}}}))
	defer func() { u.do(t, command(fetch.Disable, cdp.Empty{})) }()
	var selectors []string
	for _, r := range rules {
		selectors = append(selectors, r.selector)
	}
	list, err := json.Marshal(selectors)
	if err != nil {
		t.Fatal(err)
	}
	is[bool](t, u.browser, helper+", true")
	var all []control
	clicked := map[int]bool{} // of the controls to use: whether that had its effect
	for {
		more := is[[]control](t, u.browser, fmt.Sprintf("user.more(%q, %s)", controls, list))
		if len(more) == 0 {
			break
		}
		for _, c := range more {
			i := len(all)
			all = append(all, c)
			switch first := u.take(c.Key); {
			case c.Rule < 0:
				t.Errorf("%s: no rule uses %s", page, c.HTML)
			case first:
				clicked[i] = u.try(t, c, i, false)
			}
		}
	}
	typed := u.tab(t, all, clicked)
	for i := range clicked {
		used := clicked[i] && typed[i]
		u.count(t, all[i], used, !used && u.gone(t, i))
	}
	t.Logf("%s: %d controls, %d of them new, %v", page, len(all), len(clicked), time.Since(began))
}

// gone reports whether a page that follows a measurement has lost a control meanwhile.
func (u *user) gone(t *testing.T, i int) bool {
	t.Helper()
	return is[bool](t, u.browser, fmt.Sprintf("!user.all[%d].isConnected", i))
}

// count counts a control. One that is gone leaves its use to others.
func (u *user) count(t *testing.T, c control, used, gone bool) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case used:
		u.used++
	case gone:
		u.all--
		delete(u.keys, c.Key)
	default:
		t.Errorf("not used by mouse and by keyboard: %s", c.HTML)
	}
}

// tab moves the focus through the page, and uses each wanted control that has it. It puts the focus
// before the next wanted control once, and goes on from there.
func (u *user) tab(t *testing.T, all []control, wanted map[int]bool) map[int]bool {
	t.Helper()
	typed, left, next := map[int]bool{}, maps.Clone(wanted), slices.Sorted(maps.Keys(wanted))
	for range 3*len(all) + 3 {
		if len(left) == 0 {
			break
		}
		i := u.tabbed(t)
		if _, is := left[i]; is {
			delete(left, i)
			typed[i] = u.try(t, all[i], i, true)
			continue
		}
		if i == -1 { // between the last and the first
			maps.DeleteFunc(left, func(i int, _ bool) bool { return u.gone(t, i) })
		}
		for len(next) > 0 {
			i, next = next[0], next[1:]
			if _, wants := left[i]; wants {
				is[bool](t, u.browser, fmt.Sprintf("user.before(user.all[%d], %q), true", i,
					controls))
				break
			}
		}
	}
	return typed
}

// tabbed presses Tab, and returns the control that has the focus; negative: none has.
func (u *user) tabbed(t *testing.T) int {
	t.Helper()
	u.do(t, chromedp.KeyEvent("\t"))
	i := is[int](t, u.browser, `(el => el === document.body ? -1 : el.matches(":focus-visible") ?
		user.all.indexOf(el) : -2)(document.activeElement)`)
	if i < -1 {
		t.Errorf("the focus is not visible: %s", u.focused(t))
	}
	return i
}

func (u *user) focused(t *testing.T) string {
	t.Helper()
	return is[string](t, u.browser, "document.activeElement.outerHTML.slice(0, 200)")
}

// mostUses bounds the attempts to use a control.
const mostUses = 4

// try uses a control, and reports whether that had its effect. A page under way may change in the
// same moment, which moves the control away from the pointer, and a browser without a core to
// itself loses a click: a later use counts too.
func (u *user) try(t *testing.T, c control, i int, byKeys bool) bool {
	t.Helper()
	u.doing = fmt.Sprintf("%s, by keyboard %t", c.HTML, byKeys)
	err := u.once(t, rules[c.Rule], i, byKeys)
	for again := 1; err != nil && again < mostUses && !u.gone(t, i); again++ {
		t.Logf("again: %s: %v", u.doing, err)
		u.tap(t, kb.Escape)                           // a popup that was left open takes all that the mouse does
		is[bool](t, u.browser, "user.unfold(), true") // a click that went astray may have folded it
		err = u.once(t, rules[c.Rule], i, byKeys)
	}
	if err != nil && !u.gone(t, i) {
		t.Errorf("%s: %s: by keyboard %t: %v", is[string](t, u.browser, "location.href"), c.HTML,
			byKeys, err)
	}
	return err == nil
}

// once uses a control.
func (u *user) once(t *testing.T, r rule, i int, byKeys bool) error {
	t.Helper()
	script := func(body string) string {
		return fmt.Sprintf("(async (el, token, byKeys, was) => { %s })"+
			"(user.all[%d], %q, %t, user.was)", body, i, u.token, byKeys)
	}
	begun := is[struct {
		Asks string
		At   []float64
	}](t, u.browser, script(fmt.Sprintf("%s; user.was = %s; return { Asks: '' + %s, "+
		"At: byKeys ? [] : user.at(el, %q) }", orZero(r.ready), orZero(r.state), orZero(r.asks),
		controls)))
	keys := r.keys
	if !byKeys {
		at := begun.At
		if len(at) != 2 {
			return errors.New("the pointer does not reach it")
		}
		if keys = r.typed; r.hover {
			u.do(t, chromedp.MouseEvent(chromedp.MouseMoved, at[0]+1, at[1]),
				chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1]))
		} else {
			u.do(t, chromedp.MouseClickXY(at[0], at[1]))
		}
	}
	switch {
	case r.popup && !byKeys:
		for _, key := range keys {
			u.tap(t, string(key))
		}
	case keys != "":
		u.do(t, chromedp.KeyEvent(keys))
	}
	if r.asks != "" {
		return u.answered(t, r, begun.Asks)
	}
	if !is[bool](t, u.browser, script(fmt.Sprintf(`for (const end = Date.now() + 10000; !(%s);) {
			if (Date.now() > end) return false;
			await user.frame();
		}
		user.unfold();
		if (byKeys) el.focus();
		return true`, r.effect))) {
		return fmt.Errorf("no effect: %s", r.effect)
	}
	return nil
}

// tap presses a key that may close a popup, which keeps the browser from confirming it.
func (u *user) tap(t *testing.T, key string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(u, time.Second)
	defer cancel()
	err := chromedp.Do(ctx, chromedp.KeyEvent(key))
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func orZero(script string) string {
	if script == "" {
		return "0"
	}
	return script
}

// answered waits for the answer to a request, and leaves the page as it is.
func (u *user) answered(t *testing.T, r rule, asks string) error {
	t.Helper()
	select {
	case e := <-u.paused:
		u.do(t, command(fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID,
			ErrorReason: network.ErrorReasonAborted}))
		want := map[string]int64{"GET": 200, "POST": 303}[e.Request.Method]
		got := e.Request.Method + " " + e.Request.URL
		if got != asks || e.ResponseStatusCode != want {
			return fmt.Errorf("%s is answered with %d; wanted is %s with %d", got,
				e.ResponseStatusCode, asks, want)
		}
		if r.then != nil {
			at, err := url.Parse(e.Request.URL)
			if err != nil {
				return err
			}
			_, path, _ := strings.Cut(strings.TrimPrefix(at.Path, "/"), "/")
			r.then(u, t, path)
		}
		return nil
	case <-time.After(answerLimit):
		return fmt.Errorf("no request: wanted is %s", asks)
	}
}

// noted checks the saved notes, and removes them.
func (u *user) noted(t *testing.T, path string) {
	t.Helper()
	dir := filepath.Join(u.root, path)
	n := experiment.ReadNotes(dir)
	if n.Note != "Used." || strings.Join(n.Tags, " ") != "one two" {
		t.Errorf("saved are %+v", n)
	}
	if err := os.Remove(filepath.Join(dir, experiment.NotesFile)); err != nil {
		t.Error(err)
	}
}

// deleted checks that an experiment is in the trash folder, and moves it back.
func (u *user) deleted(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(filepath.Join(u.root, serve.TrashFolder, path),
		filepath.Join(u.root, path)); err != nil {
		t.Error(err)
	}
}

// restored checks that an experiment is back, and moves it to the trash folder again.
func (u *user) restored(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(filepath.Join(u.root, path), filepath.Join(u.root, serve.TrashFolder,
		path)); err != nil {
		t.Error(err)
	}
}
