package metrics

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// flushes is how long the end of an export may take.
const flushes = 5 * time.Second

// Asked reports whether the standard environment variables of OpenTelemetry ask for metrics to
// be sent. The error names the value that plimsoll does not support.
func Asked(getenv func(string) string) (bool, error) {
	first := func(names ...string) (name, value string) {
		for _, name := range names {
			if value := strings.TrimSpace(getenv(name)); value != "" {
				return name, value
			}
		}
		return "", ""
	}
	_, endpoint := first("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	if endpoint == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	switch name, exporter := first("OTEL_METRICS_EXPORTER"); exporter {
	case "", "otlp":
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("%s is %q: plimsoll sends otlp only, so set it to otlp or none",
			name, exporter)
	}
	name, protocol := first("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	if protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("%s is %q: plimsoll sends http/protobuf only, so set it to that, "+
			"and the endpoint to the collector's port for HTTP, usually 4318", name, protocol)
	}
	return true, nil
}

// Export sends the metrics of runs where the environment asks for it, and otherwise does
// nothing. The interval, the headers and the rest come from the environment too. The first failure
// is passed to tell. stop sends the rest, within 5 s, and ends the export.
func Export(o Options, tell func(error)) (stop func(), err error) {
	asked, err := Asked(os.Getenv)
	if err != nil || !asked {
		return func() {}, err
	}
	exporter, err := otlpmetrichttp.New(context.Background())
	if err != nil {
		return nil, fmt.Errorf("send metrics by OTLP: %w", err)
	}
	var once sync.Once
	failed := func(err error) {
		once.Do(func() { tell(fmt.Errorf("metrics are not sent by OTLP: %w", err)) })
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(failed))
	// All collectors accept classic buckets, whatever they store.
	o.ClassicOnly = true
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewCollector(o))
	about, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "plimsoll")),
		resource.WithFromEnv()) // the environment wins
	if err != nil {
		return nil, fmt.Errorf("send metrics by OTLP: %w", err)
	}
	provider := metric.NewMeterProvider(metric.WithResource(about),
		metric.WithReader(metric.NewPeriodicReader(exporter,
			metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(registry))))))
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), flushes)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			failed(err)
		}
	}, nil
}
