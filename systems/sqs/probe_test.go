package sqs

import (
	"strings"
	"testing"
	"time"

	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
)

// The probes find SQS's known capabilities on ElasticMQ.
func TestProbes(t *testing.T) {
	want := map[string]probe.Answer{
		"time decoupling": probe.Yes, "competing consumers": probe.Yes, "at most once": probe.Yes,
		"at least once": probe.Yes, "replay": probe.No,
		"routing: fanout": probe.Yes,
	}
	var rows []string
	for name := range want {
		rows = append(rows, name)
	}
	began := time.Now()
	subject := probe.Subject{Name: "sqs", System: New(),
		Options: optionsOf(t, setVisibility, "2s"), Rows: rows}
	column, err := probe.On(t.Context(), subject, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(want) {
		t.Error(wrong)
	}
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
	left, err := connect(t).client.ListQueues(t.Context(), &awssqs.ListQueuesInput{})
	if err != nil || strings.Contains(strings.Join(left.QueueUrls, " "), "plimsoll-probe") {
		t.Errorf("these are left: %v, %v", left.QueueUrls, err)
	}
}
