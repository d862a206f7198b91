package sqs

import (
	"strings"
	"testing"

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
	wrong, err := probe.Differ(t.Context(),
		probe.Subject{Name: "sqs", System: New(), Options: optionsOf(t, setVisibility, "2s")}, want)
	if err != nil || len(wrong) > 0 {
		t.Errorf("%q, %v", wrong, err)
	}
	left, err := connect(t).client.ListQueues(t.Context(), &awssqs.ListQueuesInput{})
	if err != nil || strings.Contains(strings.Join(left.QueueUrls, " "), "plimsoll-probe") {
		t.Errorf("these are left: %v, %v", left.QueueUrls, err)
	}
}
