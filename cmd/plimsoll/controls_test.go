package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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
			location.hash).getBoundingClientRect().top) < innerHeight`},
	{selector: "a[href]", keys: "\r", asks: `"GET " + el.href.split("#")[0]`},
	{selector: "input[type=checkbox]", keys: " ", state: "el.checked",
		effect: "el.checked !== was"},
	{selector: "input, textarea", ready: "el.value = ''", keys: "x", typed: "x",
		effect: "el.value === 'x'"},
	{selector: "select", ready: "el.selectedIndex = 0", keys: kb.ArrowDown,
		typed: kb.ArrowDown + "\r", popup: true, effect: "el.selectedIndex === 1"},
	{selector: "form[method=get] button", keys: "\r",
		ready: `el.form.querySelectorAll("[type=checkbox]").forEach(
			(box, i, all) => box.checked = i >= all.length - 2)`,
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
	{selector: "[tabindex='0']", keys: kb.ArrowRight + kb.ArrowRight, ready: "el.scrollLeft = 0",
		effect: `document.activeElement === el && (!byKeys || el.scrollLeft > 0 ||
			el.scrollWidth - el.clientWidth < 2)`},
}

const theme = "getComputedStyle(document.documentElement).colorScheme"

// helper finds controls on a page: those that it has not found before.
const helper = `const parts = [0.5, 0.2, 0.8, 0.02, 0.98];
const places = parts.flatMap(a => parts.map(b => [a, b]));
window.user ??= { all: [],
	unfold() { document.querySelectorAll("details:not([open])").forEach(d => d.open = true); },
	more(kinds, selectors) {
		this.unfold();
		const found = [...document.querySelectorAll(kinds)].filter(
			el => el.checkVisibility() && !this.all.includes(el));
		this.all.push(...found);
		return found.map(el => ({ Rule: selectors.findIndex(s => el.matches(s)),
			HTML: el.outerHTML.slice(0, 200),
			Path: el.href && el.host === location.host ? el.pathname : "" }));
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
}`

// user uses the controls of pages as a reader does, by mouse and by keyboard.
type user struct {
	*browser

	root      string // of the served folder
	token     string
	used, all int
	visited   map[string]bool // the first parts of paths
	linked    map[string]bool
}

// control is a control of the open page.
type control struct {
	Rule int
	HTML string
	Path string // of a link to a page of the server
}

// use opens a page and uses all of its controls.
func (u *user) use(t *testing.T, address string) {
	t.Helper()
	u.doing = address
	u.do(t, chromedp.Navigate(address))
	u.useAll(t)
}

// useAll uses all controls of the open page, first by mouse, then by keyboard. Requests for pages
// reach the server, and the browser stays on the page.
func (u *user) useAll(t *testing.T) {
	t.Helper()
	page, began := is[string](t, u.browser, "location.href"), time.Now()
	before := u.all
	defer func() { t.Logf("%s: %d controls, %v", page, u.all-before, time.Since(began)) }()
	u.visited[kindOfPage(is[string](t, u.browser, "location.pathname"))] = true
	call(t, u, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{
		{ResourceType: network.ResourceTypeDocument, RequestStage: fetch.RequestStageResponse}}})
	defer call(t, u, fetch.Disable, cdp.Empty{})
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
	clicked := map[int]bool{}
	for {
		more := is[[]control](t, u.browser, fmt.Sprintf("user.more(%q, %s)", controls, list))
		if len(more) == 0 {
			break
		}
		for _, c := range more {
			i := len(all)
			all = append(all, c)
			if c.Path != "" {
				u.linked[kindOfPage(c.Path)] = true
			}
			if c.Rule < 0 {
				t.Errorf("no rule uses %s", c.HTML)
				continue
			}
			clicked[i] = u.try(t, c, i, false)
		}
	}
	typed := u.tab(t, all)
	for i, c := range all {
		if clicked[i] && typed[i] {
			u.used++
		} else if c.Rule >= 0 {
			t.Errorf("%s: used by mouse: %t, by keyboard: %t", c.HTML, clicked[i], typed[i])
		}
	}
	u.all += len(all)
}

// tab moves the focus through the page, and uses each control that has it.
func (u *user) tab(t *testing.T, all []control) map[int]bool {
	t.Helper()
	typed := map[int]bool{}
	for range 3*len(all) + 3 {
		if len(typed) == len(all) {
			break
		}
		u.do(t, chromedp.KeyEvent("\t"))
		i := is[int](t, u.browser, `(el => el === document.body ? -1 : el.matches(":focus-visible") ?
			user.all.indexOf(el) : -2)(document.activeElement)`)
		if i < -1 {
			t.Errorf("the focus is not visible on %s",
				is[string](t, u.browser, "document.activeElement.outerHTML.slice(0, 200)"))
		}
		if i < 0 || typed[i] || all[i].Rule < 0 {
			continue
		}
		typed[i] = u.try(t, all[i], i, true)
	}
	return typed
}

// try uses a control, and reports whether that had its effect. A page under way may change in the
// same moment: the second use counts too.
func (u *user) try(t *testing.T, c control, i int, byKeys bool) bool {
	t.Helper()
	u.doing = fmt.Sprintf("%s, by keyboard %t", c.HTML, byKeys)
	err := u.once(t, rules[c.Rule], i, byKeys)
	if err != nil && is[bool](t, u.browser, `!!document.querySelector("#live[data-state=live]")`) {
		err = u.once(t, rules[c.Rule], i, byKeys)
	}
	if err != nil {
		t.Errorf("%s: %s: by keyboard %t: %v", is[string](t, u.browser, "location.href"), c.HTML,
			byKeys, err)
	}
	return err == nil
}

// once uses a control.
func (u *user) once(t *testing.T, r rule, i int, byKeys bool) error {
	t.Helper()
	script := func(body string) string {
		return fmt.Sprintf("((el, token, byKeys, was) => { %s })(user.all[%d], %q, %t, user.was)",
			body, i, u.token, byKeys)
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
			ctx, cancel := context.WithTimeout(u, time.Second)
			if err := chromedp.Do(ctx, chromedp.KeyEvent(string(key))); err != nil &&
				!errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
		}
	case keys != "":
		u.do(t, chromedp.KeyEvent(keys))
	}
	if r.asks != "" {
		return u.answered(t, r, begun.Asks)
	}
	effect := script("const done = " + r.effect +
		"; if (done) { user.unfold(); if (byKeys) el.focus(); } return !!done")
	for deadline := time.Now().Add(3 * time.Second); !is[bool](t, u.browser, effect); {
		if time.Now().After(deadline) {
			return fmt.Errorf("no effect: %s", r.effect)
		}
	}
	return nil
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
		call(t, u, fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID,
			ErrorReason: network.ErrorReasonAborted})
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
	case <-time.After(5 * time.Second):
		return fmt.Errorf("no request: wanted is %s", asks)
	}
}

// kindOfPage is the first part of a path: the pages of a kind have the same kinds of controls.
func kindOfPage(path string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return "/" + kind
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

// call calls a command of the browser's protocol.
func call[P, R any](t *testing.T, u *user, c cdp.Command[P, R], params P) {
	t.Helper()
	u.do(t, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, c, params)
		return err
	}))
}

// useServed uses all pages of a served folder, from the token on.
func (u *user) useServed(t *testing.T, address string) {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.token = at.Query().Get("token")
	base := at.Scheme + "://" + at.Host
	call(t, u, network.ClearBrowserCookies, cdp.Empty{})
	u.use(t, base)
	call(t, u, network.ClearBrowserCookies, cdp.Empty{})
	u.do(t, chromedp.Navigate(base))
	u.do(t, chromedp.KeyEvent(u.token+"\r")) // the field has the focus
	u.await(t, `document.querySelector("form[action='/compare']") !== null`)
	u.forget("401")
	u.useAll(t)

	runs := is[[]string](t, u.browser,
		`[...document.querySelectorAll("[name=run]")].map(e => e.value)`)
	if len(runs) < 3 {
		t.Fatalf("listed are %q", runs)
	}
	swept := base + "/runs/" + runs[0] + "/" // the latest
	u.use(t, swept)
	cells := is[[]string](t, u.browser, `[...document.querySelectorAll(
		"main a[href$='report.html']")].map(a => a.href)`)
	if len(cells) < 2 {
		t.Fatalf("the sweep links to %q", cells)
	}
	u.use(t, cells[0])
	u.use(t, base+"/?q=nothing-is-called-so")
	place := func(cell string) string {
		return strings.TrimSuffix(strings.TrimPrefix(cell, base+"/runs/"), "/report.html")
	}
	u.use(t, fmt.Sprintf("%s/compare?run=%s&run=%s", base, place(cells[0]), place(cells[1])))
	u.use(t, base+"/compare?run=one") // a sentence
	u.forget("422")
	u.keepNotes(t, base, runs[0])
	u.use(t, base+"/trash/")
	u.use(t, base+"/notes/"+runs[1])
	for kind := range u.linked {
		if !u.visited[kind] {
			t.Errorf("no page of %s was used, and there are links to it", kind)
		}
	}
}

// keepNotes saves notes, deletes an experiment, and restores another one, as a reader does who
// goes from page to page.
func (u *user) keepNotes(t *testing.T, base, run string) {
	t.Helper()
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
