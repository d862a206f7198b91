package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/metrics"
	"github.com/plimsoll-bench/plimsoll/result"
)

const scraped = `name: scraped
load: {rate: 500/s}
warmup: 500ms
duration: 5s
drain: 5s
`

// A Prometheus that scrapes a run has data for every query of the dashboard, and its
// histogram_quantile agrees with the run, for both kinds of histograms.
func TestDashboardOnAScrapedRun(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("measures a run for 5 s")
	}
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("there is no prometheus on the PATH: install the package prometheus")
	}
	dir := inDir(t, map[string]string{"w.yaml": scraped})
	runs := filepath.Join(dir, "runs")
	page := httptest.NewServer(metrics.Handler(metrics.Options{Source: metrics.Below(runs)}))
	defer page.Close()
	classic := startPrometheus(t, page.Listener.Addr())
	native := startPrometheus(t, page.Listener.Addr(), "--enable-feature=native-histograms")
	began := time.Now()
	measureScraped(t, dir)
	// The judgements are written when the run has ended, and scraped a second later.
	within(t, 10*time.Second, "the verdicts are scraped", func() bool {
		return len(classic.values(t, "plimsoll_verdict == 1", began)) > 0 &&
			len(native.values(t, "plimsoll_verdict == 1", began)) > 0
	})
	for _, q := range dashboardQueries(t) {
		if v := classic.values(t, q, began); len(v) == 0 {
			t.Errorf("no data for %s", q)
		}
	}
	run, err := result.ReadHead(filepath.Join(runs, result.LatestLink))
	if err != nil {
		t.Fatal(err)
	}
	for series, name := range map[result.Series]string{
		result.Publish: "publish", result.EndToEnd: "end_to_end",
	} {
		p, ok := run.Summary.Series(series).Point(99)
		if !ok || p.Bound != result.Exact {
			t.Errorf("the run has no exact p99 of %s: %+v", series, p)
			continue
		}
		want := float64(p.LatencyNs) / 1e9
		for form, got := range map[string][]float64{
			"classic": classic.values(t, fmt.Sprintf("histogram_quantile(0.99, "+
				"sum by (le) (plimsoll_%s_latency_seconds_bucket))", name), began),
			"native": native.values(t, fmt.Sprintf("histogram_quantile(0.99, "+
				"plimsoll_%s_latency_seconds)", name), began),
		} {
			if n := len(got); n == 0 || math.Abs(got[n-1]/want-1) > 0.05 {
				t.Errorf("the %s p99 of %s is %v, that of the run %v", form, series, got, want)
			} else {
				t.Logf("the %s p99 of %s is %.4g s, that of the run %.4g s", form, series,
					got[n-1], want)
			}
		}
	}
}

// measureScraped makes a run of a system with embedded servers.
func measureScraped(t *testing.T, dir string) {
	t.Helper()
	cmd := self(t, dir, "run", "-w", "w.yaml", "-t", "nats", "--warm", "0s")
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
}

// dashboardQueries returns the queries of all panels, as Grafana sends them for all runs.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../docs/grafana/plimsoll.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(raw, &dashboard); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			out = append(out, strings.NewReplacer("$__rate_interval", "4s", "$run", ".*").Replace(
				target.Expr))
		}
	}
	if len(out) < 10 {
		t.Fatalf("the dashboard has %d queries", len(out))
	}
	return out
}

// server returns the address of a Prometheus.
type server string

// startPrometheus starts a Prometheus that scrapes a page each second, until the test ends.
func startPrometheus(t *testing.T, page net.Addr, flags ...string) server {
	t.Helper()
	config := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"+
		"- job_name: plimsoll\n  static_configs: [{targets: [%q]}]\n", page.String())
	dir := inDir(t, map[string]string{"prometheus.yml": config})
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	var log bytes.Buffer
	cmd := exec.Command("prometheus", append([]string{
		"--config.file=" + filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path=" + filepath.Join(dir, "data"), "--log.level=warn",
		"--web.listen-address=" + address}, flags...)...)
	cmd.Stdout, cmd.Stderr = &log, &log
	start(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("prometheus: %s", &log)
		}
	})
	s := server("http://" + address)
	within(t, 10*time.Second, "prometheus is ready", func() bool {
		answer, err := http.Get(string(s) + "/-/ready")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return s
}

// values returns a query's numbers since a time, a second apart.
func (s server) values(t *testing.T, query string, since time.Time) []float64 {
	t.Helper()
	form := url.Values{"query": {query}, "step": {"1"},
		"start": {strconv.FormatInt(since.Unix(), 10)},
		"end":   {strconv.FormatInt(time.Now().Unix(), 10)}}
	answer, err := http.PostForm(string(s)+"/api/v1/query_range", form)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Error string
		Data  struct {
			Result []struct{ Values [][2]any }
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.Error != "" {
		t.Fatalf("%s: %v %s", query, err, got.Error)
	}
	var out []float64
	for _, series := range got.Data.Result {
		for _, pair := range series.Values {
			text, _ := pair[1].(string)
			if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) {
				out = append(out, v)
			}
		}
	}
	return out
}
