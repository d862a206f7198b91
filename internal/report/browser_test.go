package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/runs"
	"github.com/plimsoll-bench/plimsoll/internal/report/searches"
	"github.com/plimsoll-bench/plimsoll/internal/report/studies"
	"github.com/plimsoll-bench/plimsoll/internal/report/sweeps"
	"github.com/plimsoll-bench/plimsoll/internal/report/verifications"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
)

// unfit names what a reader could not see on a page: parts beside the window that no part scrolls,
// words of charts outside their figure, and cells that stand out from their surroundings.
const unfit = `(() => {
	document.querySelectorAll("details").forEach((e) => { e.open = true; });
	const out = [], wide = document.documentElement.clientWidth;
	const name = (e) => e.outerHTML.slice(0, 120);
	if (document.documentElement.scrollWidth > wide) out.push("the page is " + document.documentElement.scrollWidth + " wide");
	for (const e of document.querySelectorAll("main *")) {
		const box = e.getBoundingClientRect();
		if (box.width && (box.right > wide + 1 || box.left < -1) && !e.closest(".scroll, pre, svg")) out.push("beside the window: " + name(e));
	}
	for (const e of document.querySelectorAll(".outcome, .card *, figcaption, .facts dt")) {
		if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth) out.push("wider than its place: " + name(e));
	}
	if (wide > 1200) for (const e of document.querySelectorAll(".scroll")) {
		if (!e.closest("figure") && e.scrollWidth > e.clientWidth + 1) out.push("a table that is cut: " + e.scrollWidth + " in " + e.clientWidth + " " + name(e) + e.textContent.slice(0, 400));
	}
	for (const e of document.querySelectorAll("figure text")) {
		const box = e.getBoundingClientRect(), figure = e.closest("figure").getBoundingClientRect();
		if (box.width && (box.left < figure.left || box.right > figure.right || box.top < figure.top || box.bottom > figure.bottom)) out.push("outside its figure: " + name(e));
	}
	const clear = "rgba(0, 0, 0, 0)", back = (e) => getComputedStyle(e).backgroundColor;
	for (const e of document.querySelectorAll("td, th")) {
		let around = e.parentElement;
		while (around.parentElement && back(around) === clear) around = around.parentElement;
		if (back(e) !== clear && back(e) !== back(around)) out.push("a cell of another colour: " + name(e));
	}
	return out.slice(0, 5);
})()`

// everyReport is a report of each kind, by its name.
func everyReport(t *testing.T) map[string]form.Report {
	t.Helper()
	plan, cells := fixture.Swept(t, 3, 2)
	answered, err := studies.New(fixture.MeasuredStudy(t))
	if err != nil {
		t.Fatal(err)
	}
	limited := fixture.KafkaThree.Load(t)
	limited.Run.Summary.Generator.Limited = true
	return map[string]form.Report{
		"run":     runs.Report([]*result.Saved{fixture.Faulted(t)}),
		"crashed": runs.Report([]*result.Saved{fixture.Crashed(t)}),
		"runs": runs.Report([]*result.Saved{limited, fixture.NatsInside.Load(t),
			fixture.Small.Load(t)}),
		"peak": searches.Report([]*peak.Saved{fixture.Searched("sim"),
			fixture.Searched("a-system-with-a-long-name")}),
		"sweep": sweeps.Report(plan, cells, nil),
		"study": studies.Report([]studies.Result{answered}),
		"verify": verifications.Report([]*verify.Saved{fixture.VerifiedAt("nats", 2,
			"power-cut all", 3, false)}),
	}
}

func TestPagesShowEverythingInAnyWindow(t *testing.T) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("%s needs a browser: install chromium", t.Name())
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.UserDataDir(t.TempDir()), chromedp.DisableGPU)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	started, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(started)
	t.Cleanup(cancel)
	if err := chromedp.Do(tab); err != nil {
		t.Fatalf("open a tab of the browser: %v", err)
	}
	for name, r := range everyReport(t) {
		var page bytes.Buffer
		if err := r.Page(&page); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{1440, 390} {
			for _, theme := range []string{"light", "dark"} {
				ctx, cancel := context.WithTimeout(tab, time.Minute)
				err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900),
					chromedp.Navigate("file://"+file))
				if err != nil {
					t.Fatal(err)
				}
				wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](fmt.Sprintf(
					"document.documentElement.dataset.theme = %q, %s", theme, unfit)))
				if err != nil {
					t.Fatal(err)
				}
				cancel()
				if len(wrong) > 0 {
					t.Errorf("%s, %d wide, %s:\n%s", name, width, theme, strings.Join(wrong, "\n"))
				}
			}
		}
	}
}
