package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"
)

func TestWhatTheEnvironmentAsksFor(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://x"
	for env, want := range map[string]string{
		"":       "no",
		endpoint: "yes",
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://x":          "yes",
		endpoint + " OTEL_SDK_DISABLED=true":                    "no",
		endpoint + " OTEL_METRICS_EXPORTER=none":                "no",
		endpoint + " OTEL_METRICS_EXPORTER=console":             "otlp or none",
		endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc":          "usually 4318",
		endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf": "yes",
	} {
		asked, err := Asked(func(name string) string {
			for pair := range strings.FieldsSeq(env) {
				if value, is := strings.CutPrefix(pair, name+"="); is {
					return value
				}
			}
			return ""
		})
		if err != nil && !strings.Contains(err.Error(), want) ||
			err == nil && asked != (want == "yes") {
			t.Errorf("%q: %v, %v, want %s", env, asked, err, want)
		}
	}
}

// The end of an export sends all metrics once, with the headers of the environment.
func TestExport(t *testing.T) {
	root := t.TempDir()
	w, run := writer(t, root, "a")
	closed(t, w, run)
	var mu sync.Mutex
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var sent collector.ExportMetricsServiceRequest
		mu.Lock()
		defer mu.Unlock()
		if err := proto.Unmarshal(raw, &sent); err != nil || r.Header.Get("X-Key") != "k" {
			t.Errorf("%v, %v", err, r.Header)
		}
		for _, resource := range sent.GetResourceMetrics() {
			for _, scope := range resource.GetScopeMetrics() {
				for _, m := range scope.GetMetrics() {
					got = append(got, m.GetName())
					if h := m.GetHistogram(); h != nil && len(
						h.GetDataPoints()[0].GetExplicitBounds()) != len(bounds) {
						t.Errorf("%s has no classic buckets", m.GetName())
					}
				}
			}
		}
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=k")
	stop, err := Export(Options{Source: Below(root)}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	stop()
	names := strings.Join(got, " ")
	for _, want := range []string{"plimsoll_publish_latency_seconds", "plimsoll_messages_total",
		"plimsoll_account_messages", "plimsoll_verdict"} {
		if strings.Count(names, want) != 1 {
			t.Errorf("%s is not sent once: %s", want, names)
		}
	}
}

// A refusing collector is reported once, and stops nothing.
func TestFailedExportIsTold(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	told := 0
	stop, err := Export(Options{Source: Below(t.TempDir())}, func(error) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

func TestNothingIsSentUnasked(t *testing.T) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"} {
		t.Setenv(name, "")
	}
	source := func() []Found { t.Error("runs are looked for"); return nil }
	stop, err := Export(Options{Source: source}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	stop()
}
